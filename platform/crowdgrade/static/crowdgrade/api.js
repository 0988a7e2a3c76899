// Shows the API's schema; requests that are tried here go with the session of the site.
document.addEventListener("DOMContentLoaded", () => {
  const main = document.getElementById("api");
  const settled = () => {
    for (const part of main.querySelectorAll(".api-waiting")) part.hidden = true;
  };
  const cookie = (name) =>
    document.cookie.split("; ").find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  const failed = () => {
    settled();
    main.querySelector(".api-trouble").hidden = false;
  };
  if (!window.SwaggerUIBundle) return failed();
  window.SwaggerUIBundle({
    url: main.dataset.schema,
    domNode: document.getElementById("api-view"),
    deepLinking: false,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    // Nothing is sent to a validator elsewhere.
    validatorUrl: null,
    requestInterceptor: (request) => {
      if (request.loadSpec) request.headers.Accept = "application/json";
      const token = cookie("csrftoken");
      if (token) request.headers["X-CSRFToken"] = token;
      return request;
    },
    responseInterceptor: (response) => {
      if (response.url?.includes(main.dataset.schema) && !response.ok) failed();
      return response;
    },
    onComplete: settled,
  });
});
