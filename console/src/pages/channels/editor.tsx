import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useFormats } from '../../format/numbers.ts';
import { KeptNote } from '../../pieces/kept-note.tsx';
import { useKeptDraft } from '../../pieces/use-kept-draft.ts';
import { same } from '../../pieces/merge.ts';
import { TwoVersions } from '../../pieces/two-versions.tsx';
import { useWords } from '../../words/index.ts';
import {
  bodyOf,
  draftOf,
  freeName,
  mergeDrafts,
  vendorOf,
  withoutSecrets,
  type ChannelDetail,
  type ChannelForm,
  type Draft,
  type KeptDraft,
} from './draft.ts';
import styles from './editor.module.css';
import { changeLabel, MemberField, secretText } from './fields.tsx';
import { FoundModels } from './found-models.tsx';
import { equalsOf, type Channel } from './list.ts';
import { ModelsField } from './models-field.tsx';
import { HeadersField, KeysField } from './secret-fields.tsx';
import { TrialPart } from './trial.tsx';
import { useSaveChannel } from './use-save-channel.ts';
import { VendorField, withKey } from './vendor-field.tsx';

interface Props {
  readonly form: ChannelForm;
  /** As it is kept; null: it is a new one. */
  readonly channel: ChannelDetail | null;
  /** What the form begins with. */
  readonly initial: Draft;
  /** What nobody has said anything of: the same as `initial`, but for a clone. */
  readonly before: Draft;
  /** Under which the draft is kept in the tab. */
  readonly draftName: string;
  /** All channels, for what follows from a setting. */
  readonly all: readonly Channel[];
  readonly isReadOnly: boolean;
  /** Whether whoever looks at it may try it. */
  readonly mayTry: boolean;
  /** Whether it is tried at once. */
  readonly triesAtOnce: boolean;
  readonly onSaved: (channel: ChannelDetail) => void;
}

/** Members with a place of their own; all others stand in the last part, in the order of the file. */
const placed = new Set(
  (
    'name provider api_keys base_url proxy headers models enabled groups priority weight user_agents ' +
    'protocols'
  ).split(' '),
);

/** A channel in numbered parts on one page, which can be tried before it is saved. */
export function ChannelEditor(props: Props) {
  const { form, channel, isReadOnly, triesAtOnce, onSaved, all } = props;
  const say = useWords();
  const formats = useFormats();
  const [found, keepDraft] = useKeptDraft<KeptDraft>(props.draftName);
  /** What was typed here earlier. */
  const [restored, setRestored] = useState(isReadOnly ? null : found);
  const [kept, setKept] = useState(() => ({
    before: restored?.before ?? props.before,
    revision: restored?.revision ?? channel?.revision ?? 0,
  }));
  const [initial] = useState(props.initial);
  const [draft, setDraft] = useState(restored?.draft ?? initial);
  /** Grows when fields get other values than those that were typed into them. */
  const [version, setVersion] = useState(0);
  const [theirs, setTheirs] = useState<ChannelDetail | null>(null);
  const element = useRef<HTMLFormElement>(null);
  const own = all.find(({ id }) => id === channel?.id);
  const change = (next: Partial<Draft>) => setDraft((last) => ({ ...last, ...next }));
  /** A new channel is called after its vendor, until somebody names it. */
  const named = (last: Draft, next: Draft): Draft =>
    channel === null && (last.name === '' || last.name === freeName(last, form, all))
      ? { ...next, name: freeName(next, form, all) }
      : next;
  const body = bodyOf(kept.before, draft);
  const count = Object.keys(body).length;
  const { save, isBusy, failure, problems, forget } = useSaveChannel({
    channel,
    draft,
    onSaved(saved) {
      take(saved);
      keepDraft(null);
      onSaved(saved);
    },
    onStale(present, members) {
      // Something that no field shows, such as the end of a pause, contradicts nobody.
      const hasChanges = Object.keys(bodyOf(kept.before, draftOf(present, form))).length > 0;
      if (hasChanges) setTheirs(present);
      else void save(members, present.revision);
    },
  });
  useEffect(() => {
    if (isReadOnly) return;
    const isTyped = count > 0 && !same(draft, initial);
    keepDraft(isTyped ? { ...kept, ...withoutSecrets(kept.before, draft) } : null);
  }, [kept, draft, initial, count, isReadOnly, keepDraft]);
  /** What a test sends: the channel as it stands on the page. */
  const tried = () => (channel === null ? body : { ...body, id: channel.id });
  const vendor = vendorOf(draft, form.vendors);
  // Somebody else, or the file, has changed it while nothing was typed here.
  if (channel !== null && channel.revision > kept.revision && count === 0) take(channel);

  useEffect(() => {
    if (failure === null) return;
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [failure]);

  function take(changed: ChannelDetail, next?: Draft): void {
    const before = draftOf(changed, form);
    setKept({ before, revision: changed.revision });
    setDraft(next ?? before);
    setVersion((last) => last + 1);
  }

  /** As if nothing had been typed here. */
  function discard(): void {
    setDraft(channel === null ? initial : kept.before);
    setRestored(null);
    forget();
    setVersion((last) => last + 1);
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    void save(body, kept.revision);
  }

  const remedy = (what: 'key' | 'address' | 'model') => {
    if (what === 'model') return;
    const typed = draft.api_keys.some((key) => typeof key === 'string');
    if (what === 'key' && typed) {
      change({ api_keys: draft.api_keys.filter((key) => typeof key !== 'string') });
    }
    document.getElementById(what === 'key' ? 'channel-api_keys' : 'channel-base_url')?.focus();
  };

  const member = (name: string, more: Partial<Parameters<typeof MemberField>[0]> = {}) => {
    const described = form.members.find((each) => each.name === name);
    if (described === undefined) return null;
    return (
      <MemberField
        key={name}
        member={described}
        value={draft[name]}
        onChange={(value) => change({ [name]: value })}
        problems={problems}
        version={version}
        {...more}
      />
    );
  };
  const names = draft.models.map(({ name }) => name).filter((name) => name !== '');
  const equals = equalsOf(
    {
      ...(own ?? ({} as Channel)),
      id: channel?.id ?? '',
      priority: Number(draft['priority']),
      groups: draft['groups'] as string[],
      models: names,
    },
    all,
  );
  const weights = equals.reduce((sum, { weight }) => sum + weight, Number(draft['weight']));
  const stops = own !== undefined && own.enabled && draft['enabled'] === false ? own.alone : null;
  const merge = theirs === null ? null : mergeDrafts(kept.before, draftOf(theirs, form), draft);

  const parts: readonly { readonly name: PartName; readonly fields: ReactNode }[] = [
    {
      name: 'key',
      fields: (
        <div className={styles['two']}>
          <KeysField
            draft={draft}
            onChange={(next) =>
              channel === null
                ? setDraft((last) => named(last, withKey(last, next, form)))
                : change(next)
            }
            problems={problems}
            states={own?.api_keys ?? []}
            isReadOnly={isReadOnly}
          />
          <VendorField
            draft={draft}
            form={form}
            problems={problems}
            onChange={(next) => setDraft((last) => named(last, next))}
          />
          {channel === null && member('name')}
        </div>
      ),
    },
    {
      name: 'address',
      fields: (
        <div className={styles['stack']}>
          <div className={styles['two']}>
            {member('base_url')}
            {member('proxy')}
          </div>
          <HeadersField draft={draft} onChange={change} problems={problems} />
        </div>
      ),
    },
    {
      name: 'trial',
      fields: (
        <TrialPart
          bodyOf={tried}
          models={names.filter((name) => !name.includes('*'))}
          triesAtOnce={triesAtOnce}
          onRemedy={remedy}
        />
      ),
    },
    {
      name: 'models',
      fields: (
        <div className={styles['stack']}>
          {!isReadOnly && <FoundModels bodyOf={tried} models={draft.models} onChange={change} />}
          <ModelsField
            models={draft.models}
            onChange={change}
            problems={problems}
            known={form.models}
          />
        </div>
      ),
    },
    {
      name: 'place',
      fields: (
        <div className={styles['two']}>
          {member('groups', { choices: form.groups })}
          {member('priority', {
            hint:
              equals.length > 0
                ? say('channels.equalTo', { names: equals.map(({ name }) => name).join(', ') })
                : say('channels.memberHints.priority'),
          })}
          {member('weight', {
            hint:
              equals.length > 0
                ? say('channels.shareOf', {
                    share: formats.percent(
                      Math.round((100 * Number(draft['weight'])) / Math.max(1, weights)) / 100,
                    ),
                  })
                : say('channels.noEquals'),
          })}
          {member('protocols', {
            ...(vendor !== undefined && {
              choices: [...vendor.protocols, ...vendor.also_speaks],
            }),
          })}
          {member('user_agents')}
          {channel !== null && (
            <div>
              {member('enabled')}
              {stops !== null && (
                <p className="problem" role="status">
                  {stops.count === 0
                    ? say('channels.disableNothing')
                    : `${say('channels.disableStops', { count: stops.count })} ${stops.models.join(', ')}`}
                </p>
              )}
            </div>
          )}
        </div>
      ),
    },
    {
      name: 'rest',
      fields: (
        <div className={styles['two']}>
          {form.members.filter(({ name }) => !placed.has(name)).map(({ name }) => member(name))}
        </div>
      ),
    },
  ];
  return (
    <>
      {restored !== null && <KeptNote hadSecrets={restored.hadSecrets} onDiscard={discard} />}
      <form ref={element} onSubmit={submit} noValidate>
        <ol className={styles['parts']}>
          {parts
            .filter(({ name }) => name !== 'trial' || props.mayTry)
            .map(({ name, fields }, at) => (
              <li key={name}>
                <span className={styles['number']} aria-hidden="true">
                  {at + 1}
                </span>
                <div>
                  <h2 className="strong">{say(`channels.parts.${name}`)}</h2>
                  <p className="hint">{say(`channels.partHints.${name}`)}</p>
                </div>
                <fieldset disabled={isReadOnly && name !== 'trial'}>{fields}</fieldset>
              </li>
            ))}
        </ol>
        {!isReadOnly && (
          <div className={styles['bar']}>
            <p className="problem" role="alert">
              {failure !== null &&
                (failure.fields.length > 0
                  ? say('channels.wrongFields', { count: failure.fields.length })
                  : failure.message)}
            </p>
            {channel === null ? (
              <>
                <button
                  type="button"
                  className="button"
                  disabled={isBusy}
                  onClick={() => void save({ ...body, enabled: false }, 0)}
                >
                  {say('channels.saveDisabled')}
                </button>
                <button type="submit" className="button main" disabled={isBusy}>
                  {say('channels.saveNew')}
                </button>
              </>
            ) : (
              <>
                <button
                  type="button"
                  className="button"
                  disabled={isBusy || count === 0}
                  onClick={discard}
                >
                  {say('channels.discard')}
                </button>
                <button type="submit" className="button main" disabled={isBusy || count === 0}>
                  {say('channels.save')}
                </button>
              </>
            )}
          </div>
        )}
      </form>
      {theirs !== null && merge !== null && (
        <TwoVersions
          name={theirs.name}
          changes={merge.changes}
          labelOf={(change) => changeLabel(change, say)}
          textOf={(change, value) => secretText(change, value, say)}
          onClose={() => setTheirs(null)}
          onTakeTheirs={() => {
            take(theirs);
            setTheirs(null);
          }}
          onSaveBoth={() => {
            take(theirs, merge.merged);
            setTheirs(null);
            void save(bodyOf(draftOf(theirs, form), merge.merged), theirs.revision);
          }}
        />
      )}
    </>
  );
}

type PartName = 'key' | 'address' | 'trial' | 'models' | 'place' | 'rest';
