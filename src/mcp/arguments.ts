import { UsageError } from '../errors.js';
import type { ToolCall } from './tool.js';
import type { ToolFiles, ToolScript } from './tool-host.js';

/** A text that an agent passes, or names by its file. */
interface TextOrFile {
  readonly text: string | undefined;
  readonly file: string | undefined;
}

/** The names of the two arguments, as errors name them. */
interface Names {
  readonly text: string;
  readonly file: string;
}

/** The script that a call names. @throws UsageError `usage` unless it is named once; as the file's reading. */
export async function scriptOf(input: TextOrFile, names: Names, call: ToolCall): Promise<ToolScript> {
  const one = oneOf(input, names, call);
  return 'text' in one ? { content: one.text } : one.files.script(one.file);
}

/** The text that a call names. @throws as `scriptOf`. */
export async function textOf(
  input: TextOrFile,
  names: Names,
  call: ToolCall,
  read: 'text' | 'output' = 'text',
): Promise<string> {
  const one = oneOf(input, names, call);
  return 'text' in one ? one.text : one.files[read](one.file);
}

type One = { readonly text: string } | { readonly files: ToolFiles; readonly file: string };

function oneOf({ text, file }: TextOrFile, names: Names, { host: { files } }: ToolCall): One {
  if (text !== undefined && file === undefined) return { text };
  if (text === undefined && file !== undefined && files !== undefined) return { files, file };
  const either = files === undefined ? names.text : `either ${names.text} or ${names.file}`;
  throw new UsageError('usage', `pass ${either}`);
}
