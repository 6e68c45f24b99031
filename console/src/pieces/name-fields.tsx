import { Autocomplete } from '@base-ui/react/autocomplete';
import { Combobox } from '@base-ui/react/combobox';
import { useContext, useState, type KeyboardEvent } from 'react';
import { useWords } from '../words/index.ts';
import { AroundDialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import styles from './menu.module.css';

interface Props {
  /** Its label’s is `ID-label`. */
  readonly id: string;
  /** In the form's data. */
  readonly name: string;
  /** What is known. Other names can be typed. */
  readonly names: readonly string[];
  readonly isWrong: boolean;
  /** The element that explains the field. */
  readonly note: string;
}

/** Esc closes what is open of a field, not the dialog around it. */
function keepDialog(event: KeyboardEvent): void {
  if (event.key === 'Escape' && event.currentTarget.ariaExpanded === 'true') event.preventDefault();
}

/** A field for one name, which shows the known ones that contain what was typed. */
export function NameField({
  id,
  name,
  names,
  isWrong,
  note,
  initial,
}: Props & { initial: string }) {
  const container = useContext(AroundDialog);
  const [typed, setTyped] = useState(initial);
  return (
    <Autocomplete.Root
      items={names}
      // What stands there at first hides no other name.
      filter={(each: string, query) => query === initial || each.includes(query)}
      value={typed}
      onValueChange={(next, { reason }) => {
        if (reason !== 'escape-key') setTyped(next);
      }}
      openOnInputClick
    >
      <Autocomplete.Input
        className="input"
        id={id}
        name={name}
        aria-labelledby={`${id}-label`}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={isWrong}
        aria-describedby={note}
        onKeyDown={keepDialog}
      />
      <Autocomplete.Portal container={container}>
        <Autocomplete.Positioner className={styles['place']} sideOffset={2} positionMethod="fixed">
          <Autocomplete.Popup className={styles['entries']}>
            <Autocomplete.List>
              {(each: string) => (
                <Autocomplete.Item key={each} value={each} className={styles['entry']}>
                  {each}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** A field for several names. Each chosen one stands in it, and can be taken out. */
export function NamesField({
  id,
  name,
  names,
  isWrong,
  note,
  initial,
  onChange,
}: Props & {
  initial: readonly string[];
  /** Receives the chosen ones; absent: they are read from the form. */
  onChange?: (names: string[]) => void;
}) {
  const say = useWords();
  const container = useContext(AroundDialog);
  const [typed, setTyped] = useState('');
  const other = typed.trim();
  const items = other === '' || names.includes(other) ? names : [...names, other];
  return (
    <Combobox.Root
      multiple
      name={name}
      items={items}
      defaultValue={[...initial]}
      inputValue={typed}
      onInputValueChange={(next, { reason }) => {
        if (reason !== 'escape-key') setTyped(next);
      }}
      // Esc takes nothing out.
      onValueChange={(chosen, details) => {
        if (details.reason === 'escape-key') details.cancel();
        else onChange?.(chosen);
      }}
    >
      <Combobox.Value>
        {(chosen: readonly string[]) => (
          <Combobox.Chips className={`input ${styles['chips']}`}>
            {chosen.map((each) => (
              <Combobox.Chip key={each} className={styles['chip']}>
                {each}
                <Combobox.ChipRemove aria-label={say('lists.removeView', { name: each })}>
                  <Icon name="close" size={12} />
                </Combobox.ChipRemove>
              </Combobox.Chip>
            ))}
            <Combobox.Input
              id={id}
              aria-labelledby={`${id}-label`}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={isWrong}
              aria-describedby={note}
              onKeyDown={keepDialog}
            />
          </Combobox.Chips>
        )}
      </Combobox.Value>
      <Combobox.Portal container={container}>
        <Combobox.Positioner className={styles['place']} sideOffset={2} positionMethod="fixed">
          <Combobox.Popup className={styles['entries']}>
            <Combobox.List>
              {(each: string) => (
                <Combobox.Item key={each} value={each} className={styles['entry']}>
                  {each}
                  <Combobox.ItemIndicator className={styles['chosen']}>
                    <Icon name="tick" size={12} />
                  </Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
