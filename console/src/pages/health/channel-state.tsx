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
  unseen: { icon: 'ring', className: 'neutral' },
} as const;

/** Whether a channel is used, and why not: a shape and a few words. */
export function ChannelStateOf({
  channel: { state, credentials, recent },
}: {
  readonly channel: Channel;
}) {
  const say = useWords();
  // Nothing speaks against it, and nobody has seen it work.
  const shown = state === 'works' && recent === null ? 'unseen' : state;
  const { icon, className } = looks[shown];
  const { ready, cooling, disabled } = credentials;
  return (
    <span className={`outcome ${className}`} title={say(`health.reasons.${shown}`)}>
      <Icon name={icon} size={12} />
      {say(`health.channels.${shown}`)}
      {state === 'works' && ready < ready + cooling + disabled && (
        <span className="second">
          {say('health.credentials', { ready, all: ready + cooling + disabled })}
        </span>
      )}
    </span>
  );
}
