// What people write, as a piece of a page: Markdown without any HTML of its own, and of what comes out only what is listed.
// Nothing loads anything: no pictures, no styles; a link leads out of the page in a window of its own.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';

const kTags = [
  ...['p', 'br', 'hr', 'em', 'strong', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
const kLink = /^(?:https?:|mailto:|#)/i;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text }) => escaped(text),
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

const purify = DOMPurify();
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const to = node.getAttribute('href') ?? '';
  if (!kLink.test(to)) node.removeAttribute('href');
  else if (!to.startsWith('#')) {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
});

/** Longer than this and deeper than the parser likes: shown as it stands. */
const kMostCharacters = 20_000;

export function markdown(text: string): DocumentFragment {
  const plain = (): DocumentFragment => {
    const out = document.createDocumentFragment();
    const block = document.createElement('pre');
    block.textContent = text;
    out.append(block);
    return out;
  };
  if (text.length > kMostCharacters) return plain();
  try {
    const html = marked.parse(text, { async: false });
    return purify.sanitize(html, {
      ALLOWED_TAGS: kTags,
      ALLOWED_ATTR: ['href', 'start', 'align'],
      // What is no link need not look like one: without this every other value is held to be a bad address.
      ADD_URI_SAFE_ATTR: ['start', 'align'],
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      ALLOWED_URI_REGEXP: kLink,
      RETURN_DOM_FRAGMENT: true,
    });
  } catch {
    return plain(); // too deep for the parser
  }
}
