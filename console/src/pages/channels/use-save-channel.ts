import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure, newCallName, write, type Body, type FieldProblem } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import type { ChannelDetail, Draft } from './draft.ts';

type Members = Body<'changeChannel'>;

interface Options {
  /** Null: a new one is made. */
  readonly channel: ChannelDetail | null;
  readonly draft: Draft;
  readonly onSaved: (channel: ChannelDetail) => void;
  /** Somebody else has saved first. */
  readonly onStale?: (present: ChannelDetail, members: Members) => void;
}

/** Makes or changes a channel, and has what was wrong with it. */
export function useSaveChannel({ channel, draft, onSaved, onStale }: Options) {
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const [call] = useState(newCallName);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [refused, setRefused] = useState(draft);
  // What has another value now is no longer wrong, as far as anybody knows.
  const problems: readonly FieldProblem[] = (failure?.fields ?? []).filter(({ path }) => {
    const [name = ''] = path.split(/[.[]/, 1);
    return refused[name] === draft[name];
  });

  async function save(members: Members, revision: number): Promise<void> {
    setBusy(true);
    setFailure(null);
    try {
      const saved =
        channel === null
          ? await write<'createChannel'>('POST', '/channels', members, token, {
              'idempotency-key': call,
            })
          : await write<'changeChannel'>('PATCH', `/channels/${channel.id}`, members, token, {
              'if-match': `"${revision}"`,
            });
      onSaved(saved);
      await client.invalidateQueries({ queryKey: ['channels'] });
      await client.invalidateQueries({ queryKey: ['models'] });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.code === 'stale' && onStale !== undefined) {
        return onStale(error.object as ChannelDetail, members);
      }
      setRefused(draft);
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  return { save, isBusy, failure, problems, forget: () => setFailure(null) };
}
