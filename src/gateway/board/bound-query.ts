/** Largest values of parameters of the board. */
const MAX: Readonly<Record<string, number>> = {
  jobsPerPage: 100,
  page: 100_000,
  depth: 5,
  maxChildren: 50,
};

/** Jobs of each state on the page that shows the latest of all states. */
const MAX_LATEST = 20;

/** Parameters that hold a name in a form that is decoded once more. */
const ENCODED = new Set(['activeQueue', 'queueName']);

/**
 * The address of a request to the board with bounded parameters, each one once and under its plain name: the board itself
 * accepts any number.
 */
export function boundQuery(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const requested = new URLSearchParams(url.slice(at));
  const bounded = new URLSearchParams();
  for (const [name, value] of requested) {
    if (bounded.has(name) || !/^\w{1,50}$/.test(name)) continue;
    if (ENCODED.has(name) && !isDecodable(value)) continue;
    const most = MAX[name];
    if (most === undefined) bounded.set(name, value);
    else if (/^\d+$/.test(value)) bounded.set(name, String(Math.min(Math.max(Number(value), 1), most)));
  }
  const status = bounded.get('status') ?? 'latest';
  if (status === 'latest' && Number(bounded.get('jobsPerPage') ?? 0) > MAX_LATEST) {
    bounded.set('jobsPerPage', String(MAX_LATEST));
  }
  return `${url.slice(0, at)}?${bounded}`;
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof URIError)) throw thrown;
    return false;
  }
}
