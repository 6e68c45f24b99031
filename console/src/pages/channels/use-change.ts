import { useQueryClient } from '@tanstack/react-query';
import { write, type Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useUndoable } from '../../pieces/use-undoable.ts';
import { useWords } from '../../words/index.ts';
import { channelsQuery, type Channel } from './list.ts';

type Setting = Pick<Body<'changeChannel'>, 'priority' | 'weight' | 'enabled'>;

/** Changes of single settings in the list of channels. */
export function useChanges() {
  const say = useWords();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const reload = () => client.invalidateQueries({ queryKey: channelsQuery.queryKey });
  const { change, run, ...shown } = useUndoable(
    ({ id }: Channel, setting: Setting, headers) =>
      write<'changeChannel'>('PATCH', `/channels/${id}`, setting, token, headers),
    reload,
  );
  return {
    ...shown,
    /** Changes settings, and shows with an Undo what follows. */
    change(channel: Channel, setting: Setting, consequence: string): void {
      const names = Object.keys(setting) as (keyof Setting)[];
      const earlier = Object.fromEntries(names.map((name) => [name, channel[name]]));
      change(channel, setting, earlier, consequence);
    },
    /** Ends the pauses of a channel, on every node. */
    reset: ({ id, name }: Channel): void =>
      run(name, async () => {
        await write<'resetChannel'>('POST', `/channels/${id}/reset`, {}, token);
        void reload();
        return { text: say('channels.resetDone', { name }) };
      }),
  };
}
