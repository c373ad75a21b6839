import { NO_FACTS } from '../values/facts.js';
import { newEstimator } from '../values/join.js';
import type { Value } from '../values/value.js';
import type { Arguments } from './arguments.js';
import type { trainingOf } from './learning.js';

/** A model that gets its data when it is made, as those of statsmodels do. */
export function trainedModel(path: string, args: Arguments, training: ReturnType<typeof trainingOf>): Value {
  return newEstimator({
    path,
    role: 'model',
    options: args.keywords,
    steps: [],
    training,
    fits: training.fits,
    argumentFacts: NO_FACTS,
  });
}
