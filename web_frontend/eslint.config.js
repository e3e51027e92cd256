// Lint of the page: strict and typed; who may import whom is the last part.
import boundaries from 'eslint-plugin-boundaries';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const typed = {
  projectService: true,
  tsconfigRootDir: import.meta.dirname,
  extraFileExtensions: ['.svelte'],
};

export default ts.config(
  {
    ignores: [
      'dist/',
      'coverage/',
      'src/api/schema.d.ts',
      '*.config.js',
      'vite.config.ts',
      'vite.report.config.ts',
      'scripts/',
    ],
  },
  ...ts.configs.strictTypeChecked,
  ...svelte.configs.recommended,
  { languageOptions: { parserOptions: typed } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { ...typed, parser: ts.parser, svelteConfig } },
  },
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/strict-boolean-expressions': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // A trace is hostile text: it only ever reaches the page as text.
      'svelte/no-at-html-tags': 'error',
      // URL and Map objects here are values, not state.
      'svelte/prefer-svelte-reactivity': 'off',
      'svelte/no-useless-children-snippet': 'off',
      'svelte/no-unused-svelte-ignore': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Text from a trace is text.' },
        { property: 'outerHTML', message: 'Text from a trace is text.' },
        { property: 'insertAdjacentHTML', message: 'Text from a trace is text.' },
      ],
      eqeqeq: 'error',
    },
  },
  {
    // Types in markup are seen by svelte-check; here snippet parameters look like `any`.
    files: ['**/*.svelte'],
    rules: {
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.test.ts', 'src/test_setup.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-deprecated': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    files: ['src/**/*.{ts,svelte}'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { node: { extensions: ['.ts', '.svelte', '.d.ts'] } },
      'boundaries/elements': [
        { type: 'lib', pattern: 'src/lib' },
        { type: 'api', pattern: 'src/api' },
        { type: 'timeline', pattern: 'src/timeline' },
        { type: 'widgets', pattern: 'src/widgets' },
        { type: 'view', pattern: 'src/views/*', capture: ['view'] },
        { type: 'app', pattern: 'src/app' },
      ],
    },
    rules: {
      // lib ← api ← timeline; lib ← widgets; all of them ← views ← app. A view never imports another view.
      'boundaries/dependencies': [
        'error',
        {
          default: 'allow',
          policies: [
            {
              from: { element: { type: 'lib' } },
              disallow: {
                to: { element: { types: { anyOf: ['api', 'timeline', 'widgets', 'view', 'app'] } } },
              },
            },
            {
              from: { element: { type: 'api' } },
              disallow: { to: { element: { types: { anyOf: ['timeline', 'widgets', 'view', 'app'] } } } },
            },
            {
              from: { element: { type: 'timeline' } },
              disallow: { to: { element: { types: { anyOf: ['widgets', 'view', 'app'] } } } },
            },
            {
              from: { element: { type: 'widgets' } },
              disallow: { to: { element: { types: { anyOf: ['timeline', 'view', 'app'] } } } },
            },
            { from: { element: { type: 'view' } }, disallow: { to: { element: { type: 'app' } } } },
          ],
        },
      ],
    },
  },
);
