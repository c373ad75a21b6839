import { type Command, InvalidArgumentError } from 'commander';

/** A number in decimal digits, as the value of a flag. */
export function decimal(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number in decimal digits');
  return Number(text);
}

/** The flag of every command that makes agent calls for what it submits. */
export interface BudgetOption {
  readonly budgetUsd?: number;
}

export function withBudget(command: Command, scope: string): Command {
  return command.option(
    '--budget, --budget-usd <n>',
    `what the agent calls of ${scope} may cost, in US dollars`,
    decimal,
  );
}
