import { PayloadError } from '../../errors.js';
import { misleadingEncoding } from '../../solution/declared-encoding.js';

/**
 * Asserts that a text is the code that Python would run.
 * @throws PayloadError `invalid-payload` if it is empty, or declares another encoding.
 */
export function assertReadable(content: string): void {
  const encoding = misleadingEncoding(content);
  const problem =
    content === ''
      ? 'the script is empty'
      : encoding &&
        `the script declares the encoding ${encoding}, so Python would read different code than this text`;
  if (problem === undefined) return;
  throw new PayloadError('invalid-payload', `solution.content: ${problem}`, { field: 'solution.content' });
}
