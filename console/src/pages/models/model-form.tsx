import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiFailure, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { FormEnd, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
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

interface Props {
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
  model,
  settings,
  id,
  sending,
  onSend,
  onClose,
  parts,
}: Props & { readonly parts: readonly PricePart[] }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const [type, setType] = useState<ModelType>(model?.type ?? 'chat');
  const [before] = useState(() =>
    draftOf((settings?.price as Price | undefined) ?? model?.price ?? null, parts),
  );
  const [draft, setDraft] = useState(before);

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
    const fields = new FormData(event.currentTarget);
    const count = (name: string) => {
      const text = textOf(fields, name);
      return text === null ? null : Number(text);
    };
    let price: Price;
    try {
      price = readPrice();
    } catch (error) {
      return sending.run(() => Promise.reject(error));
    }
    const isTouched = model === null || !same(price, priceOf(before, parts));
    onSend(
      {
        display_name: textOf(fields, 'display_name'),
        context_window: count('context_window'),
        max_output_tokens: count('max_output_tokens'),
        ...(settings !== null && { enabled: fields.get('enabled') !== null }),
        ...(isTouched && { price }),
      },
      { id: textOf(fields, 'id') ?? '', type },
    );
  }

  return (
    <form className={styles['form']} onSubmit={submit}>
      {model === null && (
        <div className={styles['pair']}>
          <TextField
            name="id"
            label={say('models.form.id')}
            initial={id}
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
                setType(target.value as ModelType);
                setDraft(before);
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
        onChange={setDraft}
      />
      <div className={styles['pair']}>
        <TextField
          name="display_name"
          label={say('models.form.shownName')}
          initial={settings?.display_name}
          hint={model?.origin === 'bundled' ? say('models.form.asBundled') : ''}
          sending={sending}
        />
        <TextField
          name="context_window"
          label={say('models.form.window')}
          initial={settings?.context_window}
          sending={sending}
        />
        <TextField
          name="max_output_tokens"
          label={say('models.form.most')}
          initial={settings?.max_output_tokens}
          sending={sending}
        />
      </div>
      {settings !== null && (
        <label className={styles['whole']}>
          <input type="checkbox" name="enabled" defaultChecked={settings.enabled} />
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
        onCancel={onClose}
      />
    </form>
  );
}
