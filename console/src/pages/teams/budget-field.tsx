import type { ReactNode } from 'react';
import { useSession } from '../../app/session.ts';
import { CellNumber } from '../../pieces/cell-number.tsx';
import { useWords } from '../../words/index.ts';
import type { ListedTeam, TeamLimit } from './query.ts';
import type { SetBudget } from './use-budgets.ts';

/** What the file allows, in USD. */
const mostBudget = 1_000_000_000;

/** Fields in which budgets are edited where they stand. @returns null where the reader does not change them */
export function useBudgetField(onSet: SetBudget) {
  const say = useWords();
  const mayWrite = useSession().permissions.includes('users.write');
  return (team: ListedTeam, name: TeamLimit['name']): ReactNode => {
    if (!mayWrite || !team.editable) return null;
    return (
      <CellNumber
        label={say('teams.budgetOf', { budget: say(`limits.${name}`), name: team.name })}
        value={team.limits.find((each) => each.name === name)?.limit ?? null}
        revision={team.revision}
        min={0}
        max={mostBudget}
        isAmount
        onSave={(amount) => onSet(team, name, amount)}
      />
    );
  };
}
