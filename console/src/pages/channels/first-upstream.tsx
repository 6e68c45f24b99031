import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { KeptNote } from '../../pieces/kept-note.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { same } from '../../pieces/merge.ts';
import { useKeptDraft } from '../../pieces/use-kept-draft.ts';
import { useWords } from '../../words/index.ts';
import {
  bodyOf,
  channelFormQuery,
  emptyDraft,
  freeName,
  withoutSecrets,
  type ChannelDetail,
  type ChannelForm,
  type Draft,
  type KeptDraft,
} from './draft.ts';
import styles from './editor.module.css';
import { MemberField } from './fields.tsx';
import { FoundModels } from './found-models.tsx';
import { channelsQuery, type Channel } from './list.ts';
import { KeysField } from './secret-fields.tsx';
import { TrialPart } from './trial.tsx';
import { useSaveChannel } from './use-save-channel.ts';
import { VendorField, withKey } from './vendor-field.tsx';

interface Props {
  readonly onMade: (channel: ChannelDetail) => void;
}

/** A channel from a key alone: what else it needs follows from the vendor. All of it can be changed in the editor. */
export function FirstUpstream({ onMade }: Props) {
  const form = useQuery(channelFormQuery);
  const all = useQuery(channelsQuery);
  const failed = form.isError ? form : all.isError ? all : null;
  if (failed !== null) {
    return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  }
  if (form.data === undefined || all.data === undefined) return <Skeleton rows={4} />;
  return <Fields form={form.data} all={all.data.data} onMade={onMade} />;
}

function Fields({
  form,
  all,
  onMade,
}: Props & { readonly form: ChannelForm; readonly all: readonly Channel[] }) {
  const say = useWords();
  const [before] = useState(() => emptyDraft(form));
  const [found, keepDraft] = useKeptDraft<KeptDraft>('first upstream');
  const [restored, setRestored] = useState(found);
  const [draft, setDraft] = useState<Draft>(found?.draft ?? before);
  const { save, isBusy, failure, problems } = useSaveChannel({
    channel: null,
    draft,
    onSaved(channel) {
      keepDraft(null);
      onMade(channel);
    },
  });
  useEffect(
    () =>
      keepDraft(
        same(draft, before) ? null : { before, revision: 0, ...withoutSecrets(before, draft) },
      ),
    [draft, before, keepDraft],
  );
  const change = (next: Partial<Draft>) => setDraft((last) => ({ ...last, ...next }));
  const address = form.members.find(({ name }) => name === 'base_url');
  const body = () => bodyOf(before, draft);
  const names = draft.models.map(({ name }) => name);

  return (
    <div className={styles['stack']}>
      {restored !== null && (
        <KeptNote
          hadSecrets={restored.hadSecrets}
          onDiscard={() => {
            setDraft(before);
            setRestored(null);
          }}
        />
      )}
      <div className={styles['two']}>
        <KeysField
          draft={draft}
          onChange={(next) => setDraft((last) => withKey(last, next, form))}
          problems={problems}
          states={[]}
        />
        <VendorField draft={draft} form={form} problems={problems} onChange={setDraft} />
        {address !== undefined && (
          <MemberField
            member={address}
            value={draft.base_url}
            onChange={(value) => change({ base_url: value as string })}
            problems={problems}
          />
        )}
      </div>
      <TrialPart
        bodyOf={body}
        models={names}
        triesAtOnce={false}
        onRemedy={(what) => {
          if (what === 'model') return;
          if (what === 'key') change({ api_keys: [] });
          document
            .getElementById(what === 'key' ? 'channel-api_keys' : 'channel-base_url')
            ?.focus();
        }}
      />
      <FoundModels bodyOf={body} models={draft.models} onChange={change} />
      <p className="problem" role="alert">
        {failure?.message}
      </p>
      <div>
        <button
          type="button"
          className="button main"
          disabled={isBusy || names.length === 0}
          onClick={() => {
            void save({ ...body(), name: freeName(draft, form, all) } as object, 0);
          }}
        >
          {say('welcome.useUpstream', { count: names.length })}
        </button>
      </div>
    </div>
  );
}
