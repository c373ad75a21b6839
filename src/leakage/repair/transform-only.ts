import { declined, edited, type RepairContext, type Rewrite, type TextEdit } from './context.js';

/**
 * `scaler.fit_transform(X_val)` after the scaler was fitted on the training part: the validation part is only
 * transformed.
 */
export function onlyTransform(context: RepairContext): Rewrite {
  const edits: TextEdit[] = [];
  for (const { node, rows } of context.leaks) {
    if (node.type !== 'call' || node.callee.type !== 'attribute' || node.callee.name !== 'fit_transform') {
      return declined('the block holds another fit');
    }
    const { object, end, name } = node.callee;
    const isTest = rows.every((region) => region.role === 'test');
    if (!isTest || object.type !== 'name')
      return declined('the rows of the fit are more than the scored part');
    const before = context.source.slice(0, node.start);
    const fitted = new RegExp(`(?<![\\w.])${object.id}\\s*\\.\\s*fit(_transform)?\\s*\\(`);
    if (!fitted.test(before)) return declined(`\`${object.id}\` is not fitted on the training part before`);
    edits.push({ start: end - name.length, end, text: 'transform' });
  }
  return edits.length === 0
    ? declined('no fit in this block')
    : { text: edited(context.source, context.block, edits) };
}
