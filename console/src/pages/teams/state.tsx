import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import { nearestLimit, type ListedTeam } from './query.ts';

/** How a team is: what keeps its keys from working comes first. */
export function stateOf(team: Pick<ListedTeam, 'enabled' | 'balance' | 'limits'>) {
  if (!team.enabled) return 'disabled';
  const pace = nearestLimit(team)?.state.pace;
  if (pace === 'used-up') return pace;
  if (Number(team.balance) <= 0) return 'noBalance';
  return pace ?? 'within';
}

const looks = {
  disabled: ['neutral', 'ring'],
  'used-up': ['failed', 'cross'],
  noBalance: ['failed', 'cross'],
  early: ['warned', 'warning'],
  within: ['fine', 'tick'],
} as const;

export function TeamState({
  of,
}: {
  readonly of: Pick<ListedTeam, 'enabled' | 'balance' | 'limits'>;
}) {
  const say = useWords();
  const formats = useFormats();
  const state = stateOf(of);
  const reachedAt = nearestLimit(of)?.state.reachedAt ?? null;
  const [look, shape] = looks[state];
  return (
    <span className={`outcome ${look}`}>
      <Icon name={shape} size={12} />
      <span>
        {say(`teams.states.${state}`, {
          time: reachedAt === null ? '' : formats.moment(new Date(reachedAt).toISOString()),
        })}
      </span>
    </span>
  );
}
