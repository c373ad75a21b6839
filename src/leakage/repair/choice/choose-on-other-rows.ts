import type { RepairContext, Rewrite } from '../context.js';
import { chooseOnTrainingPart } from './choose-on-training-part.js';
import { chooseOnOtherFolds } from './other-folds/choose-on-other-folds.js';

/** A choice on the scored rows is made on others: on the predictions for the other folds, or on a part of the training rows. */
export function chooseOnOtherRows(context: RepairContext): Rewrite {
  return chooseOnOtherFolds(context) ?? chooseOnTrainingPart(context);
}
