import type { Result } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';

export type Channel = Result<'listChannels'>['data'][number];

const looks = {
  works: { icon: 'tick', className: 'fine' },
  rests: { icon: 'cross', className: 'failed' },
  tries: { icon: 'warning', className: 'warned' },
  waits: { icon: 'ring', className: 'warned' },
  refused: { icon: 'cross', className: 'failed' },
} as const;

/** Whether a channel is used, and why not: a shape and a few words. */
export function ChannelStateOf({ channel: { state, credentials } }: { readonly channel: Channel }) {
  const say = useWords();
  const { icon, className } = looks[state];
  const { ready, cooling, disabled } = credentials;
  return (
    <span className={`outcome ${className}`} title={say(`health.reasons.${state}`)}>
      <Icon name={icon} size={12} />
      {say(`health.channels.${state}`)}
      {state === 'works' && ready < ready + cooling + disabled && (
        <span className="second">
          {say('health.credentials', { ready, all: ready + cooling + disabled })}
        </span>
      )}
    </span>
  );
}
