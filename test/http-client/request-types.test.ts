import { describe, expectTypeOf, it } from 'vitest';
import type { RequestBody } from '../../src/http-client/answers.js';
import type { HttpAddOptions, HttpBatchItem, HttpJobQuery } from '../../src/http-client/index.js';
import type { operations } from '../../src/http-client/openapi-types.js';
import type { CandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import type { GuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import type { RefinementStep } from '../../src/producers/flows/refinement-step.js';
import type { BuiltInKindName, PayloadInputOf } from '../../src/queues/registry.js';

/** The names of fields. Follow-ups are no option: `then` is in the type only to be refused. */
type Fields<T> = Exclude<keyof T, 'then'>;
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

/**
 * What the methods of the client take has the types of the producers. The compiler compares its fields with those of the
 * OpenAPI document; a test that is wrong does not compile.
 */
describe('what the HTTP client takes has the fields of the OpenAPI document', () => {
  it('in single jobs and batches', () => {
    type Single = Omit<RequestBody<'submit-solution-check'>, 'payload'>;
    expectTypeOf<Fields<HttpAddOptions>>().toEqualTypeOf<Fields<Single>>();
    type Item = RequestBody<'submit-batch'>['jobs'][number];
    expectTypeOf<Fields<HttpBatchItem>>().toEqualTypeOf<Fields<Item>>();
    type Payloads = { [K in BuiltInKindName]: keyof PayloadInputOf<K> };
    type Documented = { [K in BuiltInKindName]: keyof RequestBody<`submit-${K}`>['payload'] };
    expectTypeOf<Payloads>().toEqualTypeOf<Documented>();
  });

  it('in flows', () => {
    expectTypeOf<Fields<RefinementStep & HttpAddOptions>>().toEqualTypeOf<
      Fields<RequestBody<'add-refinement-step'>>
    >();
    expectTypeOf<Fields<GuardedEvaluation & HttpAddOptions>>().toEqualTypeOf<
      Fields<RequestBody<'add-guarded-evaluation'>>
    >();
    expectTypeOf<Fields<CandidateBatch & HttpAddOptions>>().toEqualTypeOf<
      Fields<RequestBody<'add-candidate-batch'>>
    >();
  });

  it('in lists', () => {
    expectTypeOf<keyof HttpJobQuery>().toEqualTypeOf<keyof Query<'list-jobs'>>();
  });
});
