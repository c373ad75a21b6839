/** Who submits a job, as stored in its options. */
export interface Submission {
  readonly tenant?: unknown;
  readonly submitter?: unknown;
}

/** Name of the submitter for all tokens that are bound to a tenant: together they are one submitter. */
export function submitterOfTenant(tenant: string): string {
  return `tenant ${tenant}`;
}

/** The tenant to which the token of a job's submitter is bound; undefined if the submitter chose the tenant freely. */
export function boundTenantOf({ tenant, submitter }: Submission): string | undefined {
  return typeof tenant === 'string' && submitter === submitterOfTenant(tenant) ? tenant : undefined;
}
