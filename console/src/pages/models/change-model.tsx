import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState, type FormEvent } from 'react';
import { ApiFailure, newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWrite, type Write } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import styles from './page.module.css';
import { PricePreview } from './price-preview.tsx';
import type { ModelDetail } from './query.ts';

const types = ['chat', 'embedding', 'image', 'video'] as const;
type Type = (typeof types)[number];
type Price = Readonly<Record<string, unknown>>;

/** What the parts with fields of their own are called. */
const labels = {
  input: 'input',
  cache_read: 'cached',
  cache_write: 'written',
  output: 'output',
} as const;
type Part = keyof typeof labels;

/** Other parts of such a price stay as they are. */
const partsOf: Readonly<Partial<Record<Type, readonly Part[]>>> = {
  chat: ['input', 'cache_read', 'cache_write', 'output'],
  embedding: ['input'],
};

/** The fields that show their own problems. */
const known = [
  'id',
  'display_name',
  'context_window',
  'max_output_tokens',
  'price',
  ...Object.keys(labels).map((part) => `price.${part}`),
];

interface Props {
  /** Null: a new one. */
  readonly model: ModelDetail | null;
  readonly onClose: () => void;
}

/** The settings of a model with its price, and what another price would have made of the last days. */
export function ChangeModel({ model, onClose }: Props) {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { csrf_token: token } = useSession();
  const [settings, setSettings] = useState(model?.settings ?? null);
  const [type, setType] = useState<Type>(model?.type ?? 'chat');
  const [isStale, setStale] = useState(false);
  /** Grows with what is typed, which a preview is of. */
  const [typed, setTyped] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const callName = useRef(newCallName());
  const sending = useWrite(known);
  const price = (settings?.price as Price | null | undefined) ?? model?.price ?? null;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    sending.run(async () => {
      const count = (name: string) => {
        const text = textOf(fields, name);
        return text === null ? null : Number(text);
      };
      const given = readPrice(fields, type, price, say('models.form.jsonProblem'));
      // A price that nobody touched stays as bundled.
      const isSame = JSON.stringify(given) === JSON.stringify(model?.price ?? null);
      const body = {
        display_name: textOf(fields, 'display_name'),
        context_window: count('context_window'),
        max_output_tokens: count('max_output_tokens'),
        ...((model === null || !isSame) && { price: given }),
      };
      if (model === null || settings === null) {
        const id = textOf(fields, 'id') ?? '';
        const headers = { 'idempotency-key': callName.current };
        await write<'createModel'>('POST', '/models', { ...body, id, type }, token, headers);
        await client.invalidateQueries({ queryKey: ['models'] });
        onClose();
        await navigate({ to: '/models/$id', params: { id } });
        return;
      }
      try {
        const path = `/models/${encodeURIComponent(settings.id)}`;
        const headers = { 'if-match': `"${settings.revision}"` };
        const enabled = fields.get('enabled') !== null;
        await write<'changeModel'>('PATCH', path, { ...body, enabled }, token, headers);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== 'stale') throw error;
        setSettings(error.object as NonNullable<ModelDetail['settings']>);
        setStale(true);
        return;
      }
      await client.invalidateQueries({ queryKey: ['models'] });
      onClose();
    });
  }

  function ask(days: number) {
    const fields = new FormData(form.current ?? undefined);
    const given = readPrice(fields, type, price, say('models.form.jsonProblem')) ?? {};
    const body = { model: model?.id ?? '', price: given as object, days };
    return write<'previewPrice'>('POST', '/prices/preview', body, token);
  }

  const title =
    model === null
      ? say('models.form.addTitle')
      : say('models.form.changeTitle', { name: model.id });
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <form
        ref={form}
        className={styles['form']}
        onSubmit={submit}
        onInput={() => setTyped((last) => last + 1)}
        key={settings?.revision ?? 0}
      >
        {isStale && (
          <p className="problem" role="alert">
            {say('models.form.stale')}
          </p>
        )}
        {model === null && (
          <div className={styles['pair']}>
            <TextField
              name="id"
              label={say('models.form.id')}
              hint={say('models.form.idHint')}
              sending={sending}
            />
            <div className="field">
              <label htmlFor="model-type">{say('models.form.type')}</label>
              <select
                className="input"
                id="model-type"
                value={type}
                onChange={({ target }) => setType(target.value as Type)}
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
        <PriceFields type={type} price={price} sending={sending} />
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
          <PricePreview key={typed} sending={sending} ask={async (days) => ask(days)} />
        )}
        <p className="hint">{say('models.form.later')}</p>
        <p className="problem" role="alert">
          {sending.problem}
        </p>
        <div className={styles['buttons']}>
          <button type="button" className="button" onClick={onClose}>
            {say('models.form.cancel')}
          </button>
          <button type="submit" className="button main" disabled={sending.isBusy}>
            {say('models.form.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** @throws ApiFailure for text that is not JSON */
function readPrice(
  fields: FormData,
  type: Type,
  before: Price | null,
  problem: string,
): Price | null {
  const own = partsOf[type];
  if (own === undefined) {
    const text = textOf(fields, 'price');
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Price;
      }
    } catch {
      // Refused below, as anything else that is not an object.
    }
    throw new ApiFailure('invalid', problem, { fields: [{ path: 'price', message: problem }] });
  }
  const given = own.map((part) => [part, textOf(fields, `price.${part}`)] as const);
  const others = Object.entries(before ?? {}).filter(
    ([part]) => !(own as readonly string[]).includes(part),
  );
  const parts = [...given.filter(([, value]) => value !== null), ...others];
  // In the order in which they were, so that an equal price is the same.
  const names = [...new Set<string>([...Object.keys(before ?? {}), ...own])];
  const ordered = names.flatMap((name) => parts.filter(([part]) => part === name));
  return ordered.length === 0 ? null : Object.fromEntries(ordered);
}

interface PriceProps {
  readonly type: Type;
  readonly price: Price | null;
  readonly sending: Write;
}

function PriceFields({ type, price, sending }: PriceProps) {
  const say = useWords();
  const own = partsOf[type];
  const problem = sending.fields
    .filter(({ path }) => path === 'price' || path.startsWith('price.'))
    .map(({ path, message }) => `${path}: ${message}`)
    .join(' ');
  if (own === undefined) {
    return (
      <div className="field">
        <label htmlFor="model-price">{say('models.form.json')}</label>
        <textarea
          className={`input ${styles['json']}`}
          id="model-price"
          name="price"
          spellCheck={false}
          defaultValue={price === null ? '' : JSON.stringify(price, null, 2)}
          aria-invalid={problem !== ''}
          aria-describedby="model-price-note"
        />
        <p className={problem === '' ? 'hint' : 'problem'} id="model-price-note">
          {problem}
        </p>
      </div>
    );
  }
  return (
    <fieldset className="field">
      <legend>{say('models.form.perMillion')}</legend>
      <div className={styles['pair']}>
        {own.map((part) => (
          <div key={part} className="field">
            <label htmlFor={`model-price-${part}`}>{say(`models.columns.${labels[part]}`)}</label>
            <input
              className="input"
              id={`model-price-${part}`}
              name={`price.${part}`}
              inputMode="decimal"
              autoComplete="off"
              defaultValue={(price?.[part] as string | undefined) ?? ''}
              aria-invalid={sending.fields.some(({ path }) => path === `price.${part}`)}
              aria-describedby="model-price-note"
            />
          </div>
        ))}
      </div>
      <p className={problem === '' ? 'hint' : 'problem'} id="model-price-note">
        {problem === '' ? say('models.form.empty') : problem}
      </p>
    </fieldset>
  );
}
