import type { FieldProblem } from '../../api/client.ts';
import { useWords } from '../../words/index.ts';
import {
  typedKey,
  vendorOf,
  vendorsOfKey,
  withVendor,
  type ChannelForm,
  type Draft,
} from './draft.ts';
import { Labelled } from './fields.tsx';

/**
 * The draft with another key: of the vendor that is seen by its form, unless somebody has chosen one, or several have such
 * keys. A key is sent nowhere to find out whose it is.
 */
export function withKey(draft: Draft, next: Partial<Draft>, { vendors }: ChannelForm): Draft {
  const changed = { ...draft, ...next };
  const isSeen = vendorSeen(draft, vendors) !== null;
  const candidates = vendorsOfKey(typedKey(next.api_keys), vendors);
  const [only] = candidates;
  if (only === undefined || (draft.provider !== '' && !isSeen)) return changed;
  if (candidates.length === 1) return withVendor(changed, only);
  // The one before was seen by a key that is gone.
  const stays = candidates.some(({ name }) => name === vendorOf(draft, vendors)?.name);
  return stays || draft.provider === ''
    ? changed
    : { ...changed, provider: '', base_url: null, protocols: [] };
}

/** The name of the vendor that the draft has by the form of its key; null: somebody chose it, or there is none. */
function vendorSeen(draft: Draft, vendors: ChannelForm['vendors']): string | null {
  const candidates = vendorsOfKey(typedKey(draft.api_keys), vendors);
  const name = vendorOf(draft, vendors)?.name;
  const [only] = candidates;
  return candidates.length === 1 && only?.name === name ? (name ?? null) : null;
}

interface Props {
  readonly draft: Draft;
  readonly form: ChannelForm;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (draft: Draft) => void;
}

/** Whose key it is: seen by its form, or chosen. */
export function VendorField({ draft, form, problems, onChange }: Props) {
  const say = useWords();
  const vendor = vendorOf(draft, form.vendors);
  const candidates = vendorsOfKey(typedKey(draft.api_keys), form.vendors).map(({ name }) => name);
  const hint =
    vendorSeen(draft, form.vendors) !== null
      ? say('channels.seenByKey')
      : vendor === undefined && candidates.length > 1
        ? say('channels.severalByKey', { names: candidates.join(', ') })
        : undefined;
  return (
    <Labelled name="provider" problems={problems} hint={hint}>
      {({ id, note, isWrong }) => (
        <select
          className="input"
          id={id}
          value={vendor?.name ?? ''}
          aria-invalid={isWrong}
          aria-describedby={note}
          onChange={({ target }) => {
            const chosen = form.vendors.find(({ name }) => name === target.value);
            if (chosen !== undefined) onChange(withVendor(draft, chosen));
          }}
        >
          {vendor === undefined && <option value="">{say('channels.chooseVendor')}</option>}
          {form.vendors.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
