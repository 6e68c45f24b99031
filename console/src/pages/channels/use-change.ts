import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure, write, type Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useToast } from '../../pieces/toast.tsx';
import { useWords } from '../../words/index.ts';
import { channelsQuery, type Channel } from './list.ts';

type Setting = Pick<Body<'changeChannel'>, 'priority' | 'weight' | 'enabled'>;

export interface Changes extends ReturnType<typeof useToast> {
  /** Ends the pauses of a channel, on every node. */
  readonly reset: (channel: Channel) => void;
  /** Changes settings, and shows with an Undo what follows. */
  readonly change: (channel: Channel, setting: Setting, consequence: string) => void;
  /** Why a change was not made; null: it was. */
  readonly problem: string | null;
}

/** Changes of single settings in the list of channels. */
export function useChanges(): Changes {
  const say = useWords();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const { toast, setToast, endToast } = useToast();
  const [problem, setProblem] = useState<string | null>(null);

  async function send(channel: Channel, setting: Setting): Promise<Channel> {
    const headers = { 'if-match': `"${channel.revision}"` };
    const path = `/channels/${channel.id}`;
    const { revision } = await write<'changeChannel'>('PATCH', path, setting, token, headers);
    await client.invalidateQueries({ queryKey: channelsQuery.queryKey });
    return { ...channel, revision };
  }

  function explain({ name }: Channel, error: unknown): void {
    const isStale = error instanceof ApiFailure && error.code === 'stale';
    setProblem(isStale ? say('channels.changedMeanwhile', { name }) : (error as Error).message);
    void client.invalidateQueries({ queryKey: channelsQuery.queryKey });
  }

  function change(channel: Channel, setting: Setting, consequence: string): void {
    setProblem(null);
    const { priority, weight, enabled } = channel;
    const before = { priority, weight, enabled };
    const names = Object.keys(setting) as (keyof typeof before)[];
    const earlier = Object.fromEntries(names.map((name) => [name, before[name]])) as Setting;
    send(channel, setting).then(
      (changed) => {
        const undo = () => {
          setToast(null);
          send(changed, earlier).then(
            () => setToast({ text: say('channels.undone', { name: channel.name }) }),
            (error: unknown) => explain(channel, error),
          );
        };
        setToast({ text: consequence, undo });
      },
      (error: unknown) => explain(channel, error),
    );
  }

  function reset(channel: Channel): void {
    setProblem(null);
    write<'resetChannel'>('POST', `/channels/${channel.id}/reset`, {}, token).then(
      () => {
        setToast({ text: say('channels.resetDone', { name: channel.name }) });
        void client.invalidateQueries({ queryKey: channelsQuery.queryKey });
      },
      (error: unknown) => explain(channel, error),
    );
  }

  return { change, reset, toast, setToast, endToast, problem };
}
