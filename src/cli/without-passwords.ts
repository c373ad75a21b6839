/** What comes before the password of an address, and the password, which may hold any character: even a / or a @. */
const WITH_SCHEME = /^(\s*[a-z][a-z0-9+.-]*:\/\/(?!\/)[^:@/\s]*):.*@/is;
const WITHOUT_SCHEME = /^(?!\s*[a-z][a-z0-9+.-]*:\/\/)(\s*[^:@/\s]*):.*@/is;
const SECRET_PARAMETER = /([?&][^=&?]*=(?<=(?:pass|pwd|secret|token|auth)[^=&]*=))[^&#]*/gi;

/** A text that may hold an address, without the passwords in it. */
export function withoutPasswords(text: string): string {
  return text
    .replace(WITH_SCHEME, '$1:***@')
    .replace(WITHOUT_SCHEME, '$1:***@')
    .replace(SECRET_PARAMETER, '$1***');
}

const HIDDEN = '***';
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A Unix socket up to its parameters. */
const UNIX_SOCKET = /^unix:\/\/\/[^?#]*/i;
/** One host or several, each with its port, then a database or the name of a master. */
const HOSTS = /^(?:(?:[\w.-]+|\[[\da-f:.%]+\])(?::\d{1,5})?(?:,(?=[\w[])|(?=\/|$)))*(?:\/[\w.-]*)?$/i;
const PORT = /:\d{1,5}$/;
const SHOWN_PARAMETER = /^(?:db|tag)=[\w{}.-]*$/;
const PARAMETER_NAME = /^[a-z][a-z_-]{0,19}(?==)/i;

/**
 * The address of a Redis as it may be shown. `URL` is not used: it refuses or misreads just those addresses whose
 * password was not encoded, and they are the ones that people look at. What is not understood is not shown.
 */
export function shownAddress(input: string): string {
  const address = input.trim();
  const socket = UNIX_SOCKET.exec(address)?.[0];
  if (socket !== undefined) return `${socket}${shownEnd(address.slice(socket.length))}`;
  const scheme = SCHEME.exec(address)?.[0] ?? '';
  // Who logs in comes before the last @, since passwords are not always encoded.
  const at = address.lastIndexOf('@');
  const login = at < scheme.length ? undefined : address.slice(scheme.length, at);
  const rest = address.slice(login === undefined ? scheme.length : at + 1);
  const end = rest.search(/[?#]/);
  const hosts = end === -1 ? rest : rest.slice(0, end);
  const unixPath = scheme.toLowerCase() === 'unix://' && /^\/[\w./-]*$/.test(hosts);
  // A word alone may be a password that was put here instead of the address.
  const isWord = scheme === '' && login === undefined && !PORT.test(hosts);
  if (isWord || (!unixPath && !HOSTS.test(hosts))) return `${scheme}${HIDDEN}`;
  return `${scheme}${login === undefined ? '' : `${shownLogin(login)}@`}${hosts}${shownEnd(rest.slice(hosts.length))}`;
}

/** A plain name of a user is shown where a password follows; alone it may be a password that was put here instead. */
function shownLogin(login: string): string {
  const [, user] = /^([\w.-]+):./s.exec(login) ?? [];
  if (user !== undefined) return `${user}:${HIDDEN}`;
  // The default user has no name.
  return /^:./s.test(login) ? `:${HIDDEN}` : HIDDEN;
}

function shownEnd(end: string): string {
  if (end === '') return '';
  if (!end.startsWith('?')) return `#${HIDDEN}`;
  const [query = '', ...fragment] = end.slice(1).split('#');
  const shown = query.split('&').map((parameter) => {
    if (SHOWN_PARAMETER.test(parameter)) return parameter;
    const name = PARAMETER_NAME.exec(parameter)?.[0];
    return name === undefined ? HIDDEN : `${name}=${HIDDEN}`;
  });
  return `?${shown.join('&')}${fragment.length === 0 ? '' : `#${HIDDEN}`}`;
}
