import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { expect } from 'vitest';
import type { OpenApiDocument } from '../../src/gateway/openapi/document.js';

interface MediaTypes {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}

/** What came back from a gateway. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Compares answers with an OpenAPI document. */
export class DocumentedAnswers {
  readonly #document: OpenApiDocument;
  // Each validator is used a few times only. That the schemas are right is another test.
  readonly #ajv = new Ajv2020({
    ...{
      strict: false,
      allErrors: true,
      validateSchema: false,
      inlineRefs: false,
      code: { optimize: false },
    },
  });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    (addFormatsModule as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema(document, 'api');
  }

  /** Every operation, as in `get /v1/jobs/{id}`. */
  operations(): string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
  }

  /** What is wrong with a value by a schema of the document; undefined if nothing is. */
  problemOf(schema: object, value: unknown): string | undefined {
    const key = JSON.stringify(schema);
    const validate = this.#validators.get(key) ?? this.#ajv.compile(absolute(schema));
    this.#validators.set(key, validate);
    return validate(value) ? undefined : JSON.stringify(validate.errors);
  }

  /** Fails unless the answer is one that the document has for this route: status, content type and body. */
  check(path: string, method: string, { status, headers, text }: Received): void {
    const response = this.#documented(path, method, status);
    expect(
      response,
      `${method} ${path} answered ${status}, which is not documented: ${text.slice(0, 300)}`,
    ).toBeDefined();
    const types = response?.content;
    if (types === undefined) {
      expect(text).toBe('');
      return;
    }
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    expect(Object.keys(types)).toContain(type);
    if (!type.endsWith('json')) return;
    const problem = this.problemOf(types[type]?.schema ?? {}, JSON.parse(text));
    expect(problem, `${method} ${path} ${status}: ${problem} in ${text.slice(0, 500)}`).toBeUndefined();
  }

  /** The documented response, with a reference followed. */
  #documented(path: string, method: string, status: number): MediaTypes | undefined {
    const { paths, components } = this.#document;
    const response = paths[path]?.[method]?.responses[String(status)] as
      | ({ $ref?: string } & MediaTypes)
      | undefined;
    const name = response?.$ref?.split('/').at(-1);
    return name === undefined ? response : (components.responses[name] as MediaTypes);
  }
}

function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'));
}
