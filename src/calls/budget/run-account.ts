/**
 * Under which name a run's calls are booked. Jobs of a token that is bound to a tenant have an account of the tenant's own:
 * the name of a run is anybody's to choose, and nobody shall use up the budget of another tenant, or read what it spent.
 * Names have no NUL characters, so the two parts cannot run into each other.
 */
export function runAccount(run: string, tenant: string | undefined): string {
  return tenant === undefined ? run : `${tenant}\0${run}`;
}
