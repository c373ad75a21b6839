/** Pub/sub channel on which ids of cancelled jobs are announced to every worker. */
export function cancelChannel(prefix: string): string {
  return `${prefix}:cancel`;
}
