import { limitState } from '../../format/limit.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import type { User } from './query.ts';

/** How a person is: what keeps them from working comes first. */
export function stateOf(user: User) {
  if (!user.enabled) return 'disabled';
  if (user.limit !== null && limitState(user.limit, 0).pace === 'used-up') return 'usedUp';
  if (user.has_password || user.connected) return 'active';
  return user.invited_until === null ? 'noPassword' : 'invited';
}

const looks = {
  disabled: ['neutral', 'ring'],
  usedUp: ['failed', 'cross'],
  active: ['fine', 'tick'],
  noPassword: ['neutral', 'ring'],
  invited: ['neutral', 'ring'],
} as const;

export function PersonState({ of }: { readonly of: User }) {
  const say = useWords();
  const formats = useFormats();
  const state = stateOf(of);
  const [look, shape] = looks[state];
  return (
    <span className={`outcome ${look}`}>
      <Icon name={shape} size={12} />
      <span>
        {say(`people.states.${state}`, {
          time: of.invited_until === null ? '' : formats.moment(of.invited_until),
        })}
      </span>
    </span>
  );
}
