/** What stands before the password of an address, and the password, which may hold any character: even a / or a @. */
const WITH_SCHEME = /^(\s*[a-z][a-z0-9+.-]*:\/\/(?!\/)[^:@/\s]*):.*@/is;
const WITHOUT_SCHEME = /^(?!\s*[a-z][a-z0-9+.-]*:\/\/)(\s*[^:@/\s]*):.*@/is;
const SECRET_PARAMETER = /([?&][^=&?]*=(?<=(?:pass|pwd|secret|token|auth)[^=&]*=))[^&#]*/gi;

/**
 * An address as it may be shown. `URL` is not asked: it refuses or misreads just those addresses whose password was not
 * encoded, and they are the ones that people look at. Rather too much is hidden than too little.
 */
export function withoutPasswords(address: string): string {
  return address
    .replace(WITH_SCHEME, '$1:***@')
    .replace(WITHOUT_SCHEME, '$1:***@')
    .replace(SECRET_PARAMETER, '$1***');
}
