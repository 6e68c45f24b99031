import { lexer, type Token, type Tokens } from 'marked';
import { memo, type ReactNode } from 'react';
import styles from './markdown.module.css';

/**
 * Text of a model. Elements are made one by one, so whatever the text contains, it adds no markup of its own; pictures
 * from elsewhere are links, and so are never loaded.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  return <div className={styles['text']}>{blocks(lexer(text, { gfm: true }))}</div>;
});

function blocks(tokens: readonly Token[]): ReactNode[] {
  return tokens.map((token, at) => <Block key={at} token={token} />);
}

function Block({ token }: { readonly token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p className={styles['heading']}>{inlines((token as Tokens.Heading).tokens)}</p>;
    case 'code':
      return (
        <pre className="code" tabIndex={0}>
          {(token as Tokens.Code).text}
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const entries = items.map((item, at) => <li key={at}>{blocks(item.tokens)}</li>);
      return ordered ? (
        <ol start={typeof start === 'number' ? start : 1}>{entries}</ol>
      ) : (
        <ul>{entries}</ul>
      );
    }
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'paragraph':
      return <p>{inlines((token as Tokens.Paragraph).tokens)}</p>;
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return <>{tokens === undefined ? text : inlines(tokens)}</>;
    }
    default:
      // Markup in the text is text.
      return <p>{token.raw}</p>;
  }
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }) {
  return (
    <div className={styles['wide']} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at}>{inlines(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, place) => (
                <td key={place}>{inlines(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[]): ReactNode[] {
  return tokens.map((token, at) => <Inline key={at} token={token} />);
}

function Inline({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines((token as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em>{inlines((token as Tokens.Em).tokens)}</em>;
    case 'del':
      return <del>{inlines((token as Tokens.Del).tokens)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      return linkTo(href, inlines(tokens)) ?? token.raw;
    }
    case 'image': {
      const { href, text } = token as Tokens.Image;
      return linkTo(href, text === '' ? href : text) ?? token.raw;
    }
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? text : inlines(tokens);
    }
    default:
      return token.raw;
  }
}

/** A link that leaves the console, and tells the other place nothing; null for any other kind of address. */
function linkTo(href: string, children: ReactNode): ReactNode {
  if (!/^https?:\/\//i.test(href)) return null;
  return (
    <a className="link" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
