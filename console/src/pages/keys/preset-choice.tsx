import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { presetNames, presets, type PresetName } from './presets.ts';

interface Props {
  readonly chosen: PresetName;
  readonly onChoose: (name: PresetName) => void;
}

/** What the key is for, each with the limits that come with it. */
export function PresetChoice({ chosen, onChoose }: Props) {
  const say = useWords();
  return (
    <fieldset>
      <legend className="hint">{say('keys.presets.title')}</legend>
      <div className={styles['presets']}>
        {presetNames.map((name) => {
          const { quota, days, rpm, max_concurrency: atOnce } = presets[name];
          return (
            <label key={name} className={styles['preset']}>
              <input
                type="radio"
                name="preset"
                value={name}
                aria-labelledby={`preset-${name}`}
                aria-describedby={`preset-${name}-text`}
                checked={name === chosen}
                onChange={() => onChoose(name)}
              />
              <span>
                <span className="strong" id={`preset-${name}`}>
                  {say(`keys.presets.${name}`)}
                </span>
                <span className="second" id={`preset-${name}-text`}>
                  {say(`keys.presets.${name}Text`, {
                    quota: quota ?? '',
                    days: days ?? '',
                    rpm: rpm ?? '',
                    atOnce: atOnce ?? '',
                  })}
                </span>
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
