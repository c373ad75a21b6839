import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { commandsByName, createProgram } from '../src/cli/program.js';
import { flowOperations } from '../src/gateway/operations/flows.js';
import { submitBatch } from '../src/gateway/operations/submit-batch.js';
import { submitOperations } from '../src/gateway/operations/submit-job.js';
import { HTTP_ADD_OPTIONS } from '../src/http-client/add-options.js';
import { packagePath } from '../src/package-root.js';
import { ADD_OPTIONS, SUBMISSION_FIELDS } from '../src/producers/submission-fields.js';
import { BUILT_IN_CONTRACTS } from '../src/queues/registry.js';

/** The options of a submission, by their names in TypeScript and JSON. */
const OPTIONS = Object.keys(SUBMISSION_FIELDS);

/** What an entry point calls each option; undefined for one that it does not take. */
interface EntryPoint {
  readonly name: string;
  readonly nameOf: (option: string) => string | undefined;
}

const PRODUCERS = ['addJob', 'addJobs', 'addRefinementStep', 'addGuardedEvaluation', 'addCandidateBatch'];

/** Every producer checks its options against the same list. */
function producers(): EntryPoint[] {
  return PRODUCERS.map((name) => ({
    name: `\`${name}\``,
    nameOf: (option) => (Object.hasOwn(ADD_OPTIONS, option) ? option : undefined),
  }));
}

const HTTP_METHODS = ['add', 'addBatch', 'addRefinementStep', 'addGuardedEvaluation', 'addCandidateBatch'];

/** So does every method of the HTTP client. */
function httpMethods(): EntryPoint[] {
  return HTTP_METHODS.map((name) => ({
    name: `\`FleetHttpClient.${name}\``,
    nameOf: (option) => (Object.hasOwn(HTTP_ADD_OPTIONS, option) ? option : undefined),
  }));
}

/** The schema that has the options in the body of an operation: that of each job, if the body is a list. */
function submissionSchema(body: z.ZodType | undefined): z.ZodObject | undefined {
  if (!(body instanceof z.ZodObject)) return undefined;
  const { jobs } = body.shape;
  if (!(jobs instanceof z.ZodArray)) return body;
  const item = jobs.element instanceof z.ZodDiscriminatedUnion ? jobs.element.options[0] : undefined;
  return item instanceof z.ZodObject ? item : undefined;
}

function routes(): EntryPoint[] {
  const kinds = BUILT_IN_CONTRACTS;
  const operations = [...submitOperations(kinds), submitBatch(kinds), ...flowOperations];
  return operations.map(({ path, body }) => {
    const shape = submissionSchema(body)?.shape ?? {};
    return { name: `\`POST ${path}\``, nameOf: (option) => (option in shape ? option : undefined) };
  });
}

const python = (file: string) =>
  readFileSync(packagePath('clients', 'python', 'src', 'solution_fleet', file), 'utf8');

/** The fields of a class of `types.py`, those of its bases too. */
function fieldsOf(name: string): string[] {
  const found = new RegExp(`^class ${name}\\(([^)]*)\\):\\n((?:(?: {4}.*)?\\n)*)`, 'm').exec(
    python('types.py'),
  );
  if (found === null) return [];
  const [, bases = '', body = ''] = found;
  const inherited = bases.split(',').flatMap((base) => fieldsOf(base.trim()));
  return [...inherited, ...[...body.matchAll(/^ {4}(\w+):/gm)].map(([, field = '']) => field)];
}

function pythonMethods(): EntryPoint[] {
  const client = python('client.py');
  const jsonNames = /^_JSON_NAMES = \{\n([\s\S]*?)^\}/m.exec(python('operations.py'))?.[1] ?? '';
  const names = new Map(
    [...jsonNames.matchAll(/"(\w+)": "(\w+)"/g)].map(([, own = '', json = '']) => [json, own]),
  );
  const methods = [...client.matchAll(/^ {4}def (\w+)\(([^)]*)\) -> (?!.*: \.\.\.$)/gm)];
  return methods.flatMap(([, method = '', parameters = '']): EntryPoint[] => {
    const type = /\*\*options: Unpack\[(\w+)\]/.exec(parameters)?.[1];
    const takesJobs = parameters.includes('Sequence[BatchJob]');
    if (type === undefined && !takesJobs) return [];
    const fields = fieldsOf(type ?? 'BatchJob');
    const ownName = (option: string) => (takesJobs ? option : (names.get(option) ?? option));
    const nameOf = (option: string) => (fields.includes(ownName(option)) ? ownName(option) : undefined);
    return [{ name: `\`FleetClient.${method}\``, nameOf }];
  });
}

async function commands(): Promise<EntryPoint[]> {
  const all = commandsByName(await createProgram());
  return ['submit', 'check', 'refine'].map((name) => ({
    name: `\`fleet ${name}\``,
    nameOf: (option) => {
      const flag = all.get(name)?.options.find((each) => each.attributeName() === option);
      // Of two names of a flag, the first one.
      return flag?.flags.split(/[ ,]/)[0];
    },
  }));
}

/** The head and the rows of the table of `docs/entry-points.md`. */
export async function entryPointTable(): Promise<{ readonly head: string[]; readonly rows: string[][] }> {
  const groups: [string, EntryPoint[]][] = [
    ['TypeScript', producers()],
    ['TypeScript over HTTP', httpMethods()],
    ['HTTP', routes()],
    ['Python', pythonMethods()],
    ['command', await commands()],
  ];
  return {
    head: ['through', 'entry point', ...OPTIONS.map((option) => `\`${option}\``)],
    rows: groups.flatMap(([through, points]) =>
      points.map(({ name, nameOf }) => [
        through,
        name,
        ...OPTIONS.map((option) => {
          const own = nameOf(option);
          return own === undefined ? '–' : `\`${own}\``;
        }),
      ]),
    ),
  };
}
