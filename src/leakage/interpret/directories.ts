import type { Call } from '../syntax/ast.js';
import { NO_FACTS } from '../values/facts.js';
import { list } from '../values/join.js';
import { partOf, type Region } from '../values/region.js';
import type { Value } from '../values/value.js';
import type { Arguments } from './arguments.js';
import type { Interpreter } from './interpreter.js';
import { unknownCall } from './unknown-calls.js';

/**
 * `image_dataset_from_directory(folder, validation_split=0.2, subset="training", seed=1)`: the files of a folder, or one side
 * of a division of them. Calls with one seed divide them alike; calls with two seeds cut across each other.
 */
export function directoryDataset(interp: Interpreter, args: Arguments, call: Call): Value {
  const folder = args.positional[0] ?? args.keywords.get('directory');
  if (folder?.type !== 'constant') return unknownCall(interp, args, call);
  const files = interp.source(`directory:${folder.value}`, interp.label(call));
  const dataset = (source: Region): Value => ({ type: 'opaque', facts: NO_FACTS, source });
  const subset = args.keywords.get('subset');
  if (subset?.type !== 'constant' || subset.value === null) return dataset(files);
  const said = (name: string): string => {
    const [value, expression] = [args.keywords.get(name), args.keywordExpressions.get(name)];
    return value?.type === 'constant' ? String(value.value) : expression ? interp.text(expression) : '';
  };
  const key = `directory:${folder.value}:${said('validation_split')}:${said('seed')}:${said('shuffle')}`;
  const partition = interp.partition(key, 'holdout', call);
  const seed = args.keywords.get('seed');
  partition.random = seed?.type === 'constant' && seed.value !== null;
  const side = (role: 'train' | 'test'): Value =>
    dataset(partOf(files, partition, role, role, interp.statement));
  if (subset.value === 'both') return list([side('train'), side('test')], true);
  return side(subset.value === 'training' ? 'train' : 'test');
}
