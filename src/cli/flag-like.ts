import { InvalidArgumentError } from 'commander';
import { type Config, SETTINGS, type Setting, type SettingName } from '../config/settings.js';

/**
 * Reads the value of a flag that stands for a setting, within the bounds that the setting's variable has.
 * @throws InvalidArgumentError, which commander prints with the name of the flag.
 */
export function flagLike<Name extends SettingName>(name: Name): (text: string) => Config[Name] {
  const { schema }: Setting<unknown> = SETTINGS[name];
  return (text) => {
    const parsed = schema.safeParse(text);
    if (!parsed.success) throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'is not valid');
    return parsed.data as Config[Name];
  };
}
