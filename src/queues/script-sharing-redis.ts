import { Redis } from 'ioredis';

type Definition = Parameters<Redis['defineCommand']>[1];

/** A script as ioredis keeps it on a client; nothing of it depends on the client. */
interface Defined {
  readonly definition: Definition;
  readonly script: unknown;
  readonly run: unknown;
  readonly runForBuffer: unknown;
}

const shared = new Map<string, Defined>();

const isSame = (a: Definition, b: Definition) =>
  a.lua === b.lua && a.numberOfKeys === b.numberOfKeys && a.readOnly === b.readOnly;

/**
 * A client that shares its scripts with the others of its process. BullMQ defines sixty of them on each connection, and a worker
 * has two for each of its kinds: to hash and wrap them all again was a seventh of the processor time of its start.
 */
export class ScriptSharingRedis extends Redis {
  override defineCommand(name: string, definition: Definition): void {
    // ioredis keeps a prefix of keys in the script.
    if (this.options.keyPrefix) {
      super.defineCommand(name, definition);
      return;
    }
    const scripts: Record<string, unknown> = this.scriptsSet;
    const commands = this as unknown as Record<string, unknown>;
    const known = shared.get(name);
    if (known !== undefined && isSame(known.definition, definition)) {
      scripts[name] = known.script;
      commands[name] = known.run;
      commands[`${name}Buffer`] = known.runForBuffer;
      return;
    }
    super.defineCommand(name, definition);
    shared.set(name, {
      definition,
      script: scripts[name],
      run: commands[name],
      runForBuffer: commands[`${name}Buffer`],
    });
  }
}
