// The login page. A link's secret is in the fragment, which browsers do not send to servers.
const say = document.getElementById('say');
const pageHeader = { 'X-Fairlead-Page': '1' };

async function login(secret) {
  say.textContent = 'Logging in…';
  const res = await fetch('/ui/login', {
    method: 'POST', headers: { ...pageHeader, 'Content-Type': 'application/json' }, body: JSON.stringify({ secret }),
  });
  if (res.ok) {
    location.replace('/ui/');
    return;
  }
  say.textContent = `Login failed: ${(await res.text()).trim()}.`;
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
  // After a link from another site the first request lacks the SameSite cookie of a session.
  if ((await fetch('/ui/session', { headers: pageHeader })).ok) location.replace('/ui/');
  return undefined;
}

window.addEventListener('hashchange', () => { if (location.hash.length > 1) begin().catch(failed); });
begin().catch(failed);
