// The page of `traceglass report`: the same page, over the answers that stand in its own document.
import '../tokens.css';
import '../base.css';
import { mount } from 'svelte';
import App from '../App.svelte';
import { read_embedded } from './embedded';

const target = document.getElementById('app');
if (target === null) throw new Error('the report has no #app');
const embedded = await read_embedded(document);
if (embedded === undefined)
  target.textContent = 'This page holds no report: `traceglass report FILE -o page.html` writes one.';
else mount(App, { target, props: { embedded } });
