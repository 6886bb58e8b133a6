// The login page: a link's secret stands behind the #, where no server sees it.
const say = document.getElementById('say');
const own = { 'X-Fairlead-Page': '1' };

async function login(secret) {
  say.textContent = 'Logging in…';
  const res = await fetch('/ui/login', {
    method: 'POST', headers: { ...own, 'Content-Type': 'application/json' }, body: JSON.stringify({ secret }),
  });
  if (res.ok) {
    location.replace('/ui/');
    return;
  }
  say.textContent = `No: ${(await res.text()).trim()}.`;
  say.classList.add('bad');
}

document.getElementById('form').addEventListener('submit', (e) => {
  e.preventDefault();
  login(document.getElementById('secret').value.trim().replace(/^.*#/, '')).catch(failed);
});

function failed(err) {
  say.textContent = `The server does not answer: ${err.message}`;
  say.classList.add('bad');
}

async function begin() {
  const secret = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  if (secret) return login(secret);
  // Who comes from another site has a session, but came without its cookie.
  if ((await fetch('/ui/session', { headers: own })).ok) location.replace('/ui/');
  return undefined;
}

window.addEventListener('hashchange', () => { if (location.hash.length > 1) begin().catch(failed); });
begin().catch(failed);
