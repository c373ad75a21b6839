import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage of this process, such as that of test files which ran in it before. */
export const collectGarbage = runInNewContext('gc') as () => void;
