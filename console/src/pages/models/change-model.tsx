import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useEdit } from '../../pieces/use-edit.tsx';
import { useKeptDraft } from '../../pieces/use-kept-draft.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords, type Say } from '../../words/index.ts';
import { type KeptModel, modelFields, ModelForm, type ModelMembers } from './model-form.tsx';
import { partLabel } from './price-fields.tsx';
import type { ModelDetail } from './query.ts';

interface AddProps {
  /** What clients write; absent: it is not known yet. */
  readonly id?: string;
  readonly onAdded: (id: string, members: ModelMembers) => void;
  readonly onClose: () => void;
}

/** A model that is not in the catalogue yet, or that overrides one. */
export function AddModel({ id: wanted, onAdded, onClose }: AddProps) {
  const say = useWords();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const sending = useWrite(modelFields);
  const [call] = useState(newCallName);
  const kept = useKeptDraft<KeptModel>(wanted === undefined ? 'model' : `new model ${wanted}`);
  return (
    <Dialog title={say('models.form.addTitle')} onClose={onClose} isWide>
      <ModelForm
        kept={kept}
        model={null}
        settings={null}
        {...(wanted !== undefined && { id: wanted })}
        sending={sending}
        onClose={onClose}
        onSend={(members, is) =>
          sending.run(async () => {
            const headers = { 'idempotency-key': call };
            await write<'createModel'>('POST', '/models', { ...members, ...is }, token, headers);
            kept[1](null);
            await client.invalidateQueries({ queryKey: ['models'] });
            onAdded(is.id, members);
          })
        }
      />
    </Dialog>
  );
}

interface ChangeProps {
  readonly model: ModelDetail & { readonly settings: NonNullable<ModelDetail['settings']> };
  readonly onClose: () => void;
}

/** The settings of a model, and its price. */
export function ChangeModel({ model, onClose }: ChangeProps) {
  const say = useWords();
  const client = useQueryClient();
  const { csrf_token: token } = useSession();
  const sending = useWrite(modelFields);
  const kept = useKeptDraft<KeptModel>(`model ${model.id}`);
  const [begun] = useState(kept[0]?.settings ?? model.settings);
  const {
    object: settings,
    send,
    twoVersions,
  } = useEdit(begun, {
    sending,
    write: async (body: ModelMembers, headers) => {
      const path = `/models/${encodeURIComponent(model.id)}`;
      await write<'changeModel'>('PATCH', path, body, token, headers);
      kept[1](null);
      await client.invalidateQueries({ queryKey: ['models'] });
    },
    onChanged: onClose,
    name: model.id,
    labelOf: ({ member, part }) => (part === null ? memberText(member, say) : partLabel(part, say)),
    withParts: ['price'],
  });
  return (
    <Dialog title={say('models.form.changeTitle', { name: model.id })} onClose={onClose} isWide>
      <ModelForm
        key={settings.revision}
        // What somebody else has left is not what was typed here.
        kept={settings === begun ? kept : [null, kept[1]]}
        model={model}
        settings={settings}
        sending={sending}
        onClose={onClose}
        onSend={send}
      />
      {twoVersions}
    </Dialog>
  );
}

function memberText(member: string, say: Say): string {
  switch (member) {
    case 'display_name':
      return say('models.form.shownName');
    case 'context_window':
      return say('models.form.window');
    case 'max_output_tokens':
      return say('models.form.most');
    case 'enabled':
      return say('models.form.isEnabled');
    default:
      return member;
  }
}
