/** Folders that hold credentials, or settings with credentials in them. Lower case. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.gcloud',
  '.kube',
  '.docker',
  '.fleet',
]);

/** Files of the same sort. `docs/security.md` lists them for people. */
const SECRET_FILES: readonly RegExp[] = [
  /^\.env/,
  /\.env$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|ppk)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)/,
  /^[._]netrc$/,
  /^\.(?:npmrc|yarnrc|pypirc|pgpass|my\.cnf|htpasswd|git-credentials|gitconfig|dockercfg|vault-token)$/,
  /^kaggle\.json$/,
  /^credentials/,
  /^secrets?\.(?:json|toml|ya?ml|ini|txt)$/,
  /^service[-_]account.*\.json$/,
];

/** What editors and people append to the name of a copy. */
const COPY = /(?:~|\.(?:bak|backup|old|orig|save|swp))$/;

/**
 * Whether a path says that the file holds secrets. Names are compared without regard to case and to how their characters
 * are encoded: a file system may take `.ENV` for `.env`.
 *
 * @param path Relative to the workspace, or to another folder in which agents read.
 */
export function namesSecret(path: string): boolean {
  const names = path
    .normalize('NFKC')
    .toLowerCase()
    .split('/')
    .map((name) => name.trim().replace(COPY, ''));
  return names.some((name) => SECRET_FOLDERS.has(name) || SECRET_FILES.some((known) => known.test(name)));
}
