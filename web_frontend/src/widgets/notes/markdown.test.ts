import { describe, expect, test } from 'vitest';
import { markdown } from './markdown';

const html = (text: string): string => {
  const box = document.createElement('div');
  box.append(markdown(text));
  return new XMLSerializer().serializeToString(box);
};
const nodes = (text: string, selector: string): Element[] => {
  const box = document.createElement('div');
  box.append(markdown(text));
  return [...box.querySelectorAll(selector)];
};

describe('markdown', () => {
  test('what people write', () => {
    const text = '**a** `b < c`\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |';
    expect(nodes(text, 'strong')[0]?.textContent).toBe('a');
    expect(nodes(text, 'code')[0]?.textContent).toBe('b < c');
    expect(nodes(text, 'li')).toHaveLength(2);
    expect(nodes(text, 'td')).toHaveLength(2);
  });

  test('a list begins where it was begun, and columns lie as they were told', () => {
    expect(nodes('3. c\n4. d', 'ol')[0]?.getAttribute('start')).toBe('3');
    const cells = nodes('| x | y |\n|---|--:|\n| 1 | 2 |', 'td');
    expect(cells.map((cell) => cell.getAttribute('align'))).toEqual([null, 'right']);
  });

  test('links lead out, and only where a browser shows where', () => {
    const [link] = nodes('[x](https://example.org/a?b=1)', 'a');
    expect(link?.getAttribute('href')).toBe('https://example.org/a?b=1');
    expect(link?.getAttribute('rel')).toContain('noopener');
    expect(link?.getAttribute('target')).toBe('_blank');
    expect(nodes('[x](#v=1&view=trace)', 'a')[0]?.getAttribute('target')).toBeNull();
  });

  const kHostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<style>*{display:none}</style>',
    '<form action="/api/notes"><button>x</button></form>',
    '<a href="javascript:alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](java\tscript:alert(1))',
    '[x](\u0001javascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](//evil.example/)',
    '![x](https://evil.example/pixel.png)',
    '![x](x "onerror=alert(1)")',
    '`<script>alert(1)</script>`',
    '```html" onmouseover="alert(1)\nx\n```',
    '[x](https://a "\\" onmouseover=\\"alert(1)")',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<div id="app" class="app" style="position:fixed">x</div>',
    '[id]: javascript:alert(1)\n[x][id]',
    '<!--><script>alert(1)</script>-->',
    '<base href="https://evil.example/">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '- [x] <input onfocus=alert(1) autofocus>',
  ];
  test.each(kHostile)('nothing runs, loads or covers: %s', (text) => {
    const box = document.createElement('div');
    box.append(markdown(text));
    for (const node of box.querySelectorAll('*')) {
      expect(node.tagName).toMatch(
        /^(P|BR|HR|EM|STRONG|DEL|CODE|PRE|BLOCKQUOTE|[UO]L|LI|A|H[1-6]|TABLE|T(HEAD|BODY|R|H|D))$/,
      );
      for (const { name, value } of node.attributes) {
        expect(['href', 'target', 'rel', 'start', 'align']).toContain(name);
        if (name === 'href') expect(value).toMatch(/^(https?:|mailto:|#)/);
      }
    }
  });

  test('however deep or long', () => {
    expect(html('>'.repeat(5000)).length).toBeGreaterThan(0);
    expect(html('['.repeat(19_000)).length).toBeGreaterThan(0);
    expect(nodes('*a '.repeat(20_000), 'pre')).toHaveLength(1);
  });
});
