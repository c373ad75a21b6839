import type { OpenApiDocument, OperationObject } from '../document.js';
import type { OperationExample } from './example.js';
import { EXAMPLES } from './index.js';
import { problemExample } from './problems.js';

type Fields = Readonly<Record<string, unknown>>;

/** The document with an example of request and answer for each operation that has one, and for each refusal. */
export function withExamples(document: OpenApiDocument): OpenApiDocument {
  const { paths, components } = document;
  return {
    ...document,
    paths: mapValues(paths, (methods) => mapValues(methods, operationWithExample)),
    components: {
      ...components,
      responses: mapValues(components.responses, (response, name) =>
        contentWith(response as Fields, problemExample(Number(name.slice('Problem'.length)))),
      ),
    },
  };
}

function operationWithExample(operation: OperationObject): OperationObject {
  const { operationId: id, parameters, requestBody, responses } = operation;
  const example: OperationExample | undefined = Object.hasOwn(EXAMPLES, id) ? EXAMPLES[id] : undefined;
  if (example === undefined) return operation;
  return {
    ...operation,
    ...(parameters === undefined
      ? {}
      : {
          parameters: parameters.map((parameter) => ({
            ...parameter,
            ...exampleField(example.parameters?.[parameter.name]),
          })),
        }),
    ...(requestBody === undefined ? {} : { requestBody: contentWith(requestBody, example.body) }),
    responses: mapValues(responses, (response, status) =>
      Number(status) === example.status ? contentWith(response, example.answer) : response,
    ),
  };
}

/** A body with an example in each of its media types. */
function contentWith(body: Fields, example: unknown): Fields {
  const { content } = body;
  if (content === undefined || example === undefined) return body;
  const types = content as Readonly<Record<string, Fields>>;
  return { ...body, content: mapValues(types, (media) => ({ ...media, example })) };
}

function exampleField(example: unknown): { readonly example?: unknown } {
  return example === undefined ? {} : { example };
}

function mapValues<Value, Other>(
  fields: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value, name)]));
}
