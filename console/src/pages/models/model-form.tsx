import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { ApiFailure, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { FormEnd, TextField } from '../../pieces/fields.tsx';
import { KeptNote } from '../../pieces/kept-note.tsx';
import { same } from '../../pieces/merge.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import type { Write } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import {
  draftOf,
  nameProblems,
  priceOf,
  partsFor,
  type ModelType,
  type Price,
  type PriceDraft,
  type PricePart,
} from './price-draft.ts';
import { PriceFields } from './price-fields.tsx';
import { PricePreview } from './price-preview.tsx';
import { modelFormQuery, type ModelDetail } from './query.ts';

const types = ['chat', 'embedding', 'image', 'video'] as const;

/** The fields that show their own problems; a price has one place for each of its parts. */
export const modelFields = (path: string): boolean =>
  ['id', 'display_name', 'context_window', 'max_output_tokens'].includes(path) ||
  /^price\b/.test(path);

/** What the form says of a model. */
export interface ModelMembers {
  readonly display_name: string | null;
  readonly context_window: number | null;
  readonly max_output_tokens: number | null;
  readonly enabled?: boolean;
  /** Absent: nobody touched it, so that it stays as bundled. */
  readonly price?: Price;
}

interface Typed {
  readonly type: ModelType;
  readonly price: PriceDraft;
  /** By the names of the fields; one that is not ticked is absent. */
  readonly texts: Readonly<Record<string, string>>;
}

/** What was typed and not saved. */
export interface KeptModel extends Typed {
  /** What it changes: somebody else may have saved meanwhile. */
  readonly settings: ModelDetail['settings'];
}

interface Props {
  /** As of `useKeptDraft`. */
  readonly kept: readonly [KeptModel | null, (draft: KeptModel | null) => void];
  /** Null: a new one. */
  readonly model: ModelDetail | null;
  /** As the form begins; of a model that exists, its settings. */
  readonly settings: ModelDetail['settings'];
  /** Of a new one. */
  readonly id?: string;
  readonly sending: Write;
  readonly onSend: (
    members: ModelMembers,
    is: { readonly id: string; readonly type: ModelType },
  ) => void;
  readonly onClose: () => void;
}

/** The settings of a model with its price, and what another price would have made of the last days. */
export function ModelForm(props: Props) {
  const form = useQuery(modelFormQuery);
  if (form.isError) return <ErrorState error={form.error} onRetry={() => void form.refetch()} />;
  if (form.data === undefined) return <Skeleton rows={6} />;
  return <Fields {...props} parts={form.data.price} />;
}

function Fields({
  kept,
  model,
  settings,
  id = '',
  sending,
  onSend,
  onClose,
  parts,
}: Props & { readonly parts: readonly PricePart[] }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const [found, keep] = kept;
  const [restored, setRestored] = useState(found);
  const [before] = useState((): Typed => ({
    type: model?.type ?? 'chat',
    price: draftOf((settings?.price as Price | undefined) ?? model?.price ?? null, parts),
    texts: {
      ...(model === null && { id }),
      display_name: settings?.display_name ?? '',
      context_window: String(settings?.context_window ?? ''),
      max_output_tokens: String(settings?.max_output_tokens ?? ''),
      ...(settings?.enabled === true && { enabled: 'on' }),
    },
  }));
  const [typed, setTyped] = useState<Typed>(found ?? before);
  const { type, price: draft, texts } = typed;
  /** Grows when fields get other values than those that were typed into them. */
  const [version, setVersion] = useState(0);
  useEffect(
    () => keep(same(typed, before) ? null : { ...typed, settings }),
    [typed, before, settings, keep],
  );

  /** @throws ApiFailure for names that no price can have */
  function readPrice(): Price {
    const messages = { none: say('models.form.noName'), twice: say('models.form.sameName') };
    const fields = nameProblems(draft, parts, messages);
    if (fields.length > 0) throw new ApiFailure('invalid', fields[0]?.message ?? '', { fields });
    return priceOf(draft, partsFor(parts, type, draft));
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    // The dialog may stand in the form of a channel.
    event.stopPropagation();
    const text = (name: string) => texts[name]?.trim() || null;
    const count = (name: string) => (text(name) === null ? null : Number(text(name)));
    let price: Price;
    try {
      price = readPrice();
    } catch (error) {
      return sending.run(() => Promise.reject(error));
    }
    const isTouched = model === null || !same(price, priceOf(before.price, parts));
    onSend(
      {
        display_name: text('display_name'),
        context_window: count('context_window'),
        max_output_tokens: count('max_output_tokens'),
        ...(settings !== null && { enabled: 'enabled' in texts }),
        ...(isTouched && { price }),
      },
      { id: text('id') ?? '', type },
    );
  }

  return (
    <form
      key={version}
      className={styles['form']}
      onSubmit={submit}
      onChange={(event) => {
        const fields = [...new FormData(event.currentTarget)] as [string, string][];
        setTyped((last) => ({ ...last, texts: Object.fromEntries(fields) }));
      }}
    >
      {restored !== null && (
        <KeptNote
          onDiscard={() => {
            setTyped(before);
            setRestored(null);
            setVersion(version + 1);
          }}
        />
      )}
      {model === null && (
        <div className={styles['pair']}>
          <TextField
            name="id"
            label={say('models.form.id')}
            initial={texts['id']}
            hint={say('models.form.idHint')}
            sending={sending}
          />
          <div className="field">
            <label htmlFor="model-type">{say('models.form.type')}</label>
            <select
              className="input"
              id="model-type"
              value={type}
              onChange={({ target }) => {
                const chosen = target.value as ModelType;
                setTyped((last) => ({ ...last, type: chosen, price: before.price }));
              }}
            >
              {types.map((each) => (
                <option key={each} value={each}>
                  {say(`models.kinds.${each}`)}
                </option>
              ))}
            </select>
          </div>
        </div>
      )}
      <PriceFields
        parts={parts}
        type={type}
        draft={draft}
        problems={sending.fields}
        onChange={(price) => setTyped((last) => ({ ...last, price }))}
      />
      <div className={styles['pair']}>
        <TextField
          name="display_name"
          label={say('models.form.shownName')}
          initial={texts['display_name']}
          hint={model?.origin === 'bundled' ? say('models.form.asBundled') : ''}
          sending={sending}
        />
        <TextField
          name="context_window"
          label={say('models.form.window')}
          initial={texts['context_window']}
          sending={sending}
        />
        <TextField
          name="max_output_tokens"
          label={say('models.form.most')}
          initial={texts['max_output_tokens']}
          sending={sending}
        />
      </div>
      {settings !== null && (
        <label className={styles['whole']}>
          <input type="checkbox" name="enabled" defaultChecked={'enabled' in texts} />
          {say('models.form.isEnabled')}
        </label>
      )}
      {model !== null && (
        <PricePreview
          key={JSON.stringify(draft)}
          sending={sending}
          ask={async (days) => {
            const body = { model: model.id, price: readPrice() ?? {}, days };
            return write<'previewPrice'>('POST', '/prices/preview', body, token);
          }}
        />
      )}
      <p className="hint">{say('models.form.later')}</p>
      <FormEnd
        sending={sending}
        cancel={say('models.form.cancel')}
        submit={say('models.form.save')}
        onCancel={() => {
          keep(null);
          onClose();
        }}
      />
    </form>
  );
}
