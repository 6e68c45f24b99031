import { useQueryClient } from '@tanstack/react-query';
import { write, type Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { useUndoable } from '../../pieces/use-undoable.ts';
import { useWords } from '../../words/index.ts';
import { peopleKey } from '../people/query.ts';
import type { ListedTeam, TeamLimit } from './query.ts';

/** @param amount decimal text in USD; null: no such budget */
export type SetBudget = (team: ListedTeam, name: TeamLimit['name'], amount: string | null) => void;

/** Changes of budgets in the list of teams. A budget moves no money, so that an Undo takes it back. */
export function useBudgets() {
  const say = useWords();
  const formats = useFormats();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const {
    change,
    run: _run,
    ...shown
  } = useUndoable(
    ({ id }: ListedTeam, setting: Pick<Body<'changeTeam'>, 'budget'>, headers) =>
      write<'changeTeam'>('PATCH', `/teams/${id}`, setting, token, headers),
    () => client.invalidateQueries({ queryKey: peopleKey }),
  );
  const set: SetBudget = (team, name, amount) => {
    const limit = team.limits.find((each) => each.name === name);
    const left = Number(amount) - Number(limit?.spent ?? 0) - Number(limit?.held ?? 0);
    const word = amount === null ? 'None' : left > 0 ? 'Done' : 'UsedUp';
    const consequence = say(`teams.budget${word}`, {
      name: team.name,
      budget: say(`limits.${name}`),
      limit: formats.amount(Number(amount)),
      left: formats.amount(left),
    });
    const budget = { ...team.budget, [name]: amount };
    change(team, { budget }, { budget: team.budget }, consequence);
  };
  return { set, ...shown };
}
