import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/**
 * Colors for a stream: only where it is a terminal, `NO_COLOR` is unset and the terminal is not dumb;
 * `FORCE_COLOR` wins over the terminal, never over `NO_COLOR`.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Colors {
  const forced = Boolean(environment.FORCE_COLOR) && environment.FORCE_COLOR !== '0';
  const terminal = stream.isTTY === true && environment.TERM !== 'dumb';
  return pc.createColors(!environment.NO_COLOR && (forced || terminal));
}
