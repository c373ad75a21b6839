import type { z } from 'zod';
import type { ToolHost, ToolRole } from './tool-host.js';

/** One call of a tool. */
export interface ToolCall {
  readonly host: ToolHost;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A tool as an agent sees it, and what it does. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Fields of the input that name files: they are left out where there are none. */
  readonly fileFields: readonly string[];
  readonly output: z.ZodObject;
  readonly role: ToolRole;
  /** Whether it submits jobs where there is a fleet; otherwise it changes nothing. */
  readonly submits: boolean;
  run(args: unknown, call: ToolCall): Promise<Record<string, unknown>>;
}

/** Declares a tool; `handle` gets the arguments as its schema parses them. */
export function tool<In extends z.ZodObject, Out extends z.ZodObject>(
  spec: Omit<Tool, 'run' | 'input' | 'output' | 'fileFields'> & {
    readonly input: In;
    readonly output: Out;
    readonly fileFields: readonly (keyof z.output<In> & string)[];
    handle(args: z.output<In>, call: ToolCall): Promise<z.input<Out>>;
  },
): Tool {
  const { handle, ...rest } = spec;
  return { ...rest, run: (args, call) => handle(rest.input.parse(args), call) };
}
