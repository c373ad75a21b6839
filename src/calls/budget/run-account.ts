/**
 * Name of the account on which a run's calls count. Jobs of a token that is bound to a tenant have an account of their own:
 * anybody can choose any run name, and no tenant may use up the budget of another, or read what it spent. Names have no NUL
 * characters, so the two parts cannot run into each other.
 */
export function runAccount(run: string, tenant: string | undefined): string {
  return tenant === undefined ? run : `${tenant}\0${run}`;
}
