import { type Command, Option } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { UsageError } from '../../errors.js';
import { ROLES, type Role } from '../../gateway/auth/roles.js';
import { type TokenRecord, TokenStore } from '../../gateway/auth/token-store.js';
import { withSession } from '../session.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';

interface AddOptions {
  readonly role: Role;
  readonly tenant?: string;
  readonly json?: true;
}

export function addTokenCommand(program: Command): void {
  const token = program.command('token').description('Tokens of the HTTP gateway.').exitOverride();
  token
    .command('add')
    .description('Create a token, and print it: it cannot be shown again.')
    .argument('<name>', 'whose or what for')
    .addOption(
      new Option('--role <role>', 'read: look; submit: also submit and cancel; admin: also change queues')
        .choices(ROLES)
        .default('submit'),
    )
    .option(
      '--tenant <tenant>',
      'bind it to a tenant: it submits for that one only, and sees no other’s jobs',
    )
    .option('--json', 'print JSON')
    .exitOverride()
    .action(add);
  token
    .command('list')
    .description('List the tokens, without their secrets.')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(list);
  token
    .command('revoke')
    .description('Revoke a token, at once and for every gateway.')
    .argument('<id>', 'id that list shows')
    .exitOverride()
    .action(revoke);
}

function withTokens<T>(action: (tokens: TokenStore) => Promise<T>): Promise<T> {
  return withSession(loadConfig(), { work: false }, (fleet) =>
    action(new TokenStore(fleet.client, fleet.prefix)),
  );
}

function line({ id, role, createdAt, name, tenant }: TokenRecord): string {
  const bound = tenant === undefined ? '' : `  tenant ${tenant}`;
  return escapeControlCharsInLine(`${id}  ${role.padEnd(6)}  ${createdAt}  ${name}${bound}`);
}

async function add(name: string, { role, tenant, json }: AddOptions): Promise<void> {
  if (name.trim() === '' || name.length > 200) {
    throw new UsageError('usage', 'the name of a token must have 1 to 200 characters');
  }
  if (tenant !== undefined && (tenant === '' || tenant.length > 200)) {
    throw new UsageError('usage', 'a tenant must have 1 to 200 characters');
  }
  if (tenant !== undefined && role === 'admin') {
    throw new UsageError(
      'usage',
      'a token of the role admin may change everything, so it cannot be bound to a tenant',
    );
  }
  const { token, record } = await withTokens((tokens) => tokens.add(name, role, tenant));
  if (json) {
    printJson({ ...record, token });
    return;
  }
  printNote(`${line(record)}\nKeep this token now; it cannot be shown again:`);
  print(token);
}

async function list({ json }: { readonly json?: true }): Promise<void> {
  const records = await withTokens((tokens) => tokens.list());
  if (json) printJson(records);
  else for (const record of records) print(line(record));
}

async function revoke(id: string): Promise<void> {
  const wasThere = await withTokens((tokens) => tokens.revoke(id));
  if (!wasThere)
    throw new UsageError('usage', `there is no token ${JSON.stringify(id)}; "fleet token list" shows them`);
  print(`revoked ${escapeControlCharsInLine(id)}`);
}
