import type { CallControl } from './call-control.js';
import type { CallInterceptor } from './call-interceptor.js';
import { type CallingJob, JobInterceptor } from './job-interceptor.js';
import { CallCache } from './ledger/call-cache.js';

/** The interceptors of every call of one attempt. */
export function jobInterceptors(control: CallControl, job: CallingJob): CallInterceptor[] {
  const interceptor = new JobInterceptor(control, job);
  return control.cache ? [new CallCache(control), interceptor] : [interceptor];
}
