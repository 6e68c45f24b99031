import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import type { Channel } from '../channels/list.ts';
import type { Health } from './sentences.ts';

const looks = {
  answers: { icon: 'tick', className: 'fine' },
  unsteady: { icon: 'warning', className: 'warned' },
  fails: { icon: 'cross', className: 'failed' },
  unasked: { icon: 'ring', className: 'neutral' },
} as const;

/** What the attempts of all nodes say about a channel, and how this node uses it: a shape and a few words. */
export function ChannelStateOf({
  channel: { verdict, state, rest_ms: rest, credentials, recent },
  resting,
}: {
  readonly channel: Channel;
  /** On how many nodes it rests. Absent: on none, or nobody asked. */
  readonly resting?: Health['resting'][number] | undefined;
}) {
  const say = useWords();
  const formats = useFormats();
  const { icon, className } = looks[verdict];
  const { ready, cooling, disabled } = credentials;
  const since = verdict === 'fails' ? recent?.failing?.since : undefined;
  return (
    <span className={`outcome ${className}`} title={say(`health.reasons.${verdict}`)}>
      <Icon name={icon} size={12} />
      <span>
        {since === undefined
          ? say(`health.verdicts.${verdict}`)
          : say('health.failsSince', { time: formats.time(since) })}
        {state !== null && state !== 'works' && (
          <span className="second" title={say(`health.uses.${state}`)}>
            {' '}
            {rest > 0
              ? say('health.hereFor', {
                  state: say(`health.channels.${state}`),
                  time: formats.duration(rest),
                })
              : say('health.here', { state: say(`health.channels.${state}`) })}
          </span>
        )}
        {resting !== undefined && resting.of > 1 && (
          <span className="second"> {say('health.restsOn', resting)}</span>
        )}
        {state === 'works' && ready < ready + cooling + disabled && (
          <span className="second">
            {' '}
            {say('health.credentials', { ready, all: ready + cooling + disabled })}
          </span>
        )}
      </span>
    </span>
  );
}
