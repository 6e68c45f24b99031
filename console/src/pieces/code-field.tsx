import { useWords } from '../words/index.ts';

/** A field for a code of an authenticator app, or for one that replaces it. @param hint absent: both are accepted */
export function CodeField({ hint }: { readonly hint?: string }) {
  const say = useWords();
  return (
    <div className="field">
      <label htmlFor="code">{say('signIn.code')}</label>
      <input
        className="input"
        id="code"
        name="code"
        autoComplete="one-time-code"
        spellCheck={false}
        maxLength={40}
        required
        autoFocus
        aria-describedby="code-note"
      />
      <p className="hint" id="code-note">
        {hint ?? say('signIn.codeHint')}
      </p>
    </div>
  );
}
