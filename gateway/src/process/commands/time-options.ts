import { type CommandInput, UsageError } from './command.ts';

/** The given `--from` and `--to` in Unix milliseconds. @throws UsageError */
export async function readTimes(
  input: CommandInput,
): Promise<{ readonly from?: number; readonly to?: number }> {
  const { parseTimestamp } = await import('#config/index.ts');
  const times = (['from', 'to'] as const).flatMap((option) => {
    const text = input.text(option);
    if (text === undefined) return [];
    const time = parseTimestamp(text);
    if (time === null) {
      throw new UsageError(
        `--${option}: expected a time with its zone such as 2027-01-01T00:00:00Z`,
      );
    }
    return [[option, time] as const];
  });
  return Object.fromEntries(times);
}
